#include <algorithm>
#include <charconv>
#include <string>

#include "oracle/case/gemm_choices.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"

namespace tally {
namespace {

std::string allowed(const GemmChoiceKey& key) {
  if (key.words[0].empty()) return "a whole number >= " + std::to_string(key.least) + " as text";
  std::string words;
  for (const std::string_view word : key.words) {
    if (!word.empty()) words += (words.empty() ? "" : " | ") + json_string(word);
  }
  return words;
}

bool fits(const GemmChoiceKey& key, std::string_view value) {
  const bool named = std::find(key.words.begin(), key.words.end(), value) != key.words.end();
  if (!key.words[0].empty()) return named && !value.empty();
  const auto number = gemm_choice_number(value);
  return number && *number >= key.least;
}

}  // namespace

std::optional<std::int64_t> gemm_choice_number(std::string_view digits) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && number >= 0 && std::to_string(number) == digits ? std::optional<std::int64_t>(number) : std::nullopt;
}

void check_gemm_choices(const Case& c, Findings& findings) {
  for (const auto& [operation, value] : c.execution.kernels) {
    const std::string path = member_path("$.execution.kernels", operation);
    if (!operation.starts_with("gemm.")) continue;
    const auto* const key =
        std::find_if(gemm_choice_keys.begin(), gemm_choice_keys.end(),
                     [&, &name = operation](const GemmChoiceKey& each) { return each.name == name; });
    if (key == gemm_choice_keys.end()) {
      findings.add(path, "unknown", "gemm.math, gemm.reduction, gemm.split_k, gemm.workspace or gemm.algorithm");
    } else if (!fits(*key, value)) {
      findings.add(path, json_string(value), allowed(*key));
    } else if (key->name == "gemm.math" && value == "tf32" && !c.precision.tf32) {
      findings.add(path, json_string(value), "another, or precision.tf32");
    }
  }
}

}  // namespace tally
