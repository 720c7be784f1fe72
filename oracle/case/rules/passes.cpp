// Rules of steps that take several passes over the same rows, a window each.
#include <algorithm>
#include <cstring>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/rules/rules.hpp"

namespace tally {
namespace {

std::string kinds_with_passes(std::string_view section, std::int64_t passes) {
  std::vector<std::string> kinds;
  for (const Contract* contract : contracts_of(section))
    if (contract->passes == passes) kinds.push_back(contract->kind);
  return "one of " + quoted_list(kinds);
}

/// What may not stand between the passes.
void check_beside(const Recipe& recipe, Findings& findings) {
  const std::string optimizer = json_string(recipe.optimizer.kind);
  const std::string beside = " beside the optimizer " + optimizer + ", whose step takes several passes";
  if (decays(recipe.weight_decay))
    findings.add("$.recipe.weight_decay", json_string(recipe.weight_decay.kind) + beside, "\"none\"");
  if (checks_overflow(recipe.loss_scale))
    findings.add("$.recipe.loss_scale", json_string(recipe.loss_scale.kind) + beside,
                 "\"none\" or \"static\": a pass that is skipped would make the next window a first one");
}

bool same_rows(const Tensor& tensor, std::int64_t rows, std::int64_t first, std::int64_t other, std::int64_t count) {
  const std::size_t row = tensor.bytes.size() / static_cast<std::size_t>(rows);
  const auto at = [&](std::int64_t i) { return tensor.bytes.data() + static_cast<std::size_t>(i) * row; };
  return std::memcmp(at(first), at(other), static_cast<std::size_t>(count) * row) == 0;
}

/// A mask may differ: it is drawn anew with every pass.
void check_rows(const Case& c, std::size_t window, Findings& findings) {
  const std::int64_t first = first_row(c, window - 1), second = first_row(c, window), count = second - first;
  const std::string found = "other rows in window " + std::to_string(window) + " than in window " +
                            std::to_string(window - 1),
                    expected = "the same rows in both: they are passes of one step";
  for (const auto& [name, tensor] : c.tensors) {
    if (!has_rows(name) || name.ends_with(".mask") || !findings.sound(tensor_path(name))) continue;
    if (!same_rows(tensor, rows_of(c), first, second, count)) findings.add(tensor_path(name), found, expected);
  }
  const std::vector<std::int64_t> places = places_in_sequences(c);
  const auto at = [&](std::int64_t row) { return places.begin() + row; };
  if (!std::equal(at(first), at(second), at(second))) findings.add("$.sequences", found, expected);
}

std::int64_t steps_taken(const Case& c) {
  const auto step = c.tensors.find("step");
  const bool is_there = step != c.tensors.end() && step->second.dtype == Dtype::i64 && step->second.elements() == 1;
  return is_there ? step->second.integer(0) : 0;
}

/// Behind a first pass there is what it kept.
void check_begun(const Case& c, std::int64_t passes_taken, Findings& findings) {
  if (passes_taken == 0) return;
  for (const std::string& parameter : parameters_of(c.model))
    for (const KeptTensor& kept : kept_beside(c, parameter))
      if (!c.tensors.contains(kept.name) && findings.sound(tensor_path(kept.name)))
        findings.add_broken(tensor_path(kept.name), "nothing",
                            "the " + kept.of->word + ", as step " + std::to_string(steps_taken(c)) +
                                " lies between the passes of one step");
}

}  // namespace

void check_passes(const Case& c, Findings& findings) {
  const Recipe& recipe = c.recipe;
  const std::int64_t passes = contract_of("optimizer", recipe.optimizer).passes;
  if (passes != contract_of("clip", recipe.clip).passes)
    findings.add("$.recipe.clip.kind",
                 json_string(recipe.clip.kind) + " beside the optimizer " + json_string(recipe.optimizer.kind),
                 kinds_with_passes("clip", passes) + ", or an optimizer that is " +
                     kinds_with_passes("optimizer", contract_of("clip", recipe.clip).passes));
  if (passes == 1) return;
  check_beside(recipe, findings);
  const std::int64_t taken = steps_taken(c);
  check_begun(c, taken % passes, findings);
  for (std::size_t w = 1; w < c.windows.size(); ++w) {
    if ((taken + static_cast<std::int64_t>(w)) % passes == 0) continue;
    if (c.windows[w] == c.windows[w - 1])
      check_rows(c, w, findings);
    else
      findings.add(element_path("$.windows", w), "other micro-batches than those of window " + std::to_string(w - 1),
                   "the same ones: they are passes of one step");
  }
}

}  // namespace tally
