#include "reports/command_line/check/not_judged.hpp"

#include <algorithm>
#include <set>

#include "reports/command_line/check/silent_stages.hpp"
#include "reports/command_line/check/vacuous_tensors.hpp"

namespace tally::command_line {
namespace {

/// Layers that no contract defines: what they computed is the capture's word.
std::string given_layers(const Case& c) {
  const auto& layers = c.model.layers;
  const bool any = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.kind == "opaque"; });
  return any ? "forward and backward: given by the capture, not judged" : "";
}

/// The stages that left too few taps to judge, each once.
std::string missing_stages(const std::vector<TensorCheck>& checks) {
  std::string text;
  std::set<std::string> named;
  for (const TensorCheck& check : checks) {
    if (check.status != Status::not_run || !named.insert(check.stage).second) continue;
    text += (text.empty() ? "too few taps to judge: " : ", ") + check.stage + " (" + check.tap + ")";
  }
  return text;
}

/// Elements that are not finite where none is expected either: equal, and no result of training.
std::string not_finite(const std::vector<TensorCheck>& checks) {
  std::size_t tensors = 0;
  std::string first;
  for (const TensorCheck& check : checks) {
    if (check.status == Status::fail || check.non_finite == 0) continue;
    if (tensors++ == 0) first = check.tap;
  }
  if (tensors == 0) return "";
  return "not finite: " + first + (tensors == 1 ? "" : " and " + std::to_string(tensors - 1) + " more") +
         ", as what they were computed from makes them";
}

}  // namespace

std::vector<std::string> not_judged(const Case& c, const std::vector<TensorCheck>& checks, bool all_lenses) {
  std::string silent = silent_stages(checks);
  if (!silent.empty()) silent.pop_back();
  const char* local =
      "end to end, stages between missing taps, causes, and the semantic gap: --lens local does not ask for them";
  std::vector<std::string> all{given_layers(c), missing_stages(checks), compared_in_vain(checks),
                               silent,          not_finite(checks),     all_lenses ? "" : local};
  std::erase(all, "");
  return all;
}

}  // namespace tally::command_line
