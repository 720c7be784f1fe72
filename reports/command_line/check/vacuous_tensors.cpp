#include "reports/command_line/check/vacuous_tensors.hpp"

#include <cmath>
#include <map>
#include <string_view>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "reports/text/numbers.hpp"

namespace tally::command_line {
namespace {

/// In the order of the checks, each tap once; `shown` where one of its comparisons says something.
struct Compared {
  const TensorCheck* first;
  bool shown;
};

std::vector<Compared> compared(const std::vector<TensorCheck>& checks) {
  std::vector<Compared> all;
  std::map<std::string_view, std::size_t> places;
  for (const TensorCheck& check : checks) {
    if (check.status == Status::not_run || check.elements == 0) continue;
    const auto [place, is_new] = places.emplace(check.tap, all.size());
    if (is_new) all.push_back({&check, false});
    all[place->second].shown = all[place->second].shown || check.status != Status::vacuous;
  }
  return all;
}

/// The window of a parameter after its step; nothing for any other tensor.
std::optional<int> step_of(const TensorCheck& check) {
  const auto name = tap_view_of(check.tap);
  const bool parameter = name && name->stage == "optimizer" && !name->tensor.starts_with("in.") &&
                         parameter_of_state(name->tensor).empty();
  return parameter ? std::optional<int>(name->window) : std::nullopt;
}

std::string numbers_of(const TensorCheck& check) {
  return check.tap + " may be off by " + significant(check.norm_bound) + " and is " + significant(check.norm_expected) +
         " long";
}

}  // namespace

std::optional<int> window_not_shown(const std::vector<TensorCheck>& checks) {
  std::map<int, bool> shown;
  for (const Compared& tensor : compared(checks))
    if (const auto window = step_of(*tensor.first)) shown[*window] = shown[*window] || tensor.shown;
  for (const auto& [window, any] : shown)
    if (!any) return window;
  return std::nullopt;
}

std::string compared_in_vain(const std::vector<TensorCheck>& checks) {
  const auto window = window_not_shown(checks);
  const TensorCheck* first = nullptr;
  std::size_t count = 0;
  for (const Compared& tensor : compared(checks)) {
    if (tensor.shown || (window && step_of(*tensor.first) != window)) continue;
    if (count++ == 0) first = tensor.first;
  }
  if (first == nullptr) return "";
  if (window)
    return "nothing is shown of the step of window " + std::to_string(*window) + ", as every bound admits that there " +
           "was none: " + (std::isinf(first->norm_bound) ? first->tap + " may be anything" : numbers_of(*first)) +
           "; taps nearer to the step, as of its gradients, would tell";
  const std::string more = count == 1 ? "" : ", and " + counted(count - 1, "tensor") + " more";
  if (std::isinf(first->norm_bound))
    return "could not be judged, as what it was computed from left no taps: " + first->tap + more;
  return "compared in vain, as the bounds admit as much as there is: " + numbers_of(*first) + more;
}

}  // namespace tally::command_line
