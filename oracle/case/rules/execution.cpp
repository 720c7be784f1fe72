// Rules of how a case is run: its windows and statistics, its first step, what is recomputed, what is asked of kernels.
#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <string>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rules/rules.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {

void check_windows(const Case& c, Findings& findings) {
  if (c.windows.empty()) findings.add_broken("$.windows", "an empty list", "at least one window");
  std::size_t micro_batches = 0;
  for (const auto& window : c.windows) micro_batches += window.size();
  if (micro_batches > most_micro_batches) {
    findings.add_broken("$.windows", std::to_string(micro_batches) + " micro-batches",
                        "at most " + std::to_string(most_micro_batches));
    return;
  }
  constexpr auto most_rows = static_cast<std::int64_t>(most_elements);
  std::int64_t rows = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string path = element_path("$.windows", w);
    if (c.windows[w].empty()) findings.add_broken(path, "an empty window", "at least one micro-batch");
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      const std::int64_t size = c.windows[w][k];
      if (size < 1 || size > most_rows - rows)
        findings.add_broken(micro_batch_path(c, w, k), std::to_string(size),
                            "a size >= 1, all together at most " + std::to_string(most_rows));
      else
        rows += size;
    }
  }
}

namespace {

bool uses(const Case& c, std::string_view statistics) {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(), [&](const Layer& layer) {
    return layer.kind == kinds::batch_norm && layer.text("statistics") == statistics;
  });
}

}  // namespace

/// A batch of one row has no unbiased variance. The full batch takes micro_batch statistics over its window, so a
/// window of one row is one micro-batch of one row and found here too.
void check_statistics(const Case& c, Findings& findings) {
  const bool micro_batch = uses(c, "micro_batch");
  const bool window = uses(c, "window");
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string path = element_path("$.windows", w);
    const std::vector<std::int64_t>& sizes = c.windows[w];
    for (std::size_t k = 0; micro_batch && k < sizes.size(); ++k)
      if (sizes[k] < 2)
        findings.add(micro_batch_path(c, w, k), "a micro-batch of one row under \"micro_batch\" statistics",
                     "at least 2 rows");
    if (window && std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) < 2)
      findings.add(path, "a window of one row under \"window\" statistics", "at least 2 rows");
  }
}

/// Every window may take a step, and the count after the last one must be a number too.
void check_step(const Case& c, Findings& findings) {
  const auto step = c.tensors.find("step");
  if (step == c.tensors.end() || !findings.sound(tensor_path("step"))) return;
  if (step->second.dtype != Dtype::i64 || step->second.elements() != 1) return;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(c.windows.size());
  if (step->second.integer(0) <= most) return;
  findings.add(element_path(tensor_path("step") + ".data", 0), std::to_string(step->second.integer(0)),
               "at most " + std::to_string(most) + ", so that " + std::to_string(c.windows.size()) +
                   " more steps can be counted");
}

/// Layers that run again in backward are layers of the model, each named once.
void check_recomputed(const Case& c, Findings& findings) {
  const std::vector<std::string>& named = c.execution.recomputed;
  if (named.empty() || c.model.layers.empty()) return;
  if (!c.execution.recompute)
    findings.add_broken("$.execution.recompute", "false beside a list of layers", "true beside one");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) labels.push_back(label_of(c.model, i));
  for (std::size_t i = 0; i < named.size(); ++i) {
    const std::string path = element_path("$.execution.recompute", i);
    const auto here = named.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::ranges::find(labels, named[i]) == labels.end())
      findings.add(path, json_string(named[i]), "the label of a layer, such as " + json_string(labels.front()));
    else if (std::find(named.begin(), here, named[i]) != here)
      findings.add(path, json_string(named[i]) + " again", "each layer once");
  }
}

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
      findings.add(path, json_string(value), "another value, or precision.tf32 = true");
    }
  }
}

std::int64_t most_blocks_of(const Case& c) {
  const auto found = c.execution.kernels.find(std::string(most_blocks_key));
  return found == c.execution.kernels.end() ? 0 : gemm_choice_number(found->second).value_or(0);
}

void check_grid_choice(const Case& c, Findings& findings) {
  const auto found = c.execution.kernels.find(std::string(most_blocks_key));
  if (found == c.execution.kernels.end() || most_blocks_of(c) > 0) return;
  findings.add(member_path("$.execution.kernels", std::string(most_blocks_key)), json_string(found->second),
               "a whole number >= 1 as text");
}

}  // namespace tally
