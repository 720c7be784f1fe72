#include "properties/compare/steps_shown.hpp"

#include <algorithm>
#include <set>

namespace tally {
namespace {

/// Windows that the trace says were skipped.
std::set<int> skipped_windows(const Trace& trace) {
  std::set<int> skipped;
  for (const Tap& tap : trace.taps())
    if (tap.name.stage == "overflow_check" && tap.name.tensor == "found" && tap.value.integer(0) != 0)
      skipped.insert(tap.name.window);
  return skipped;
}

bool has_an_item(const Case& c, int window) {
  std::int64_t row = first_row(c, static_cast<std::size_t>(window));
  for (const std::int64_t size : c.windows[static_cast<std::size_t>(window)])
    for (const std::int64_t end = row + size; row < end; ++row)
      if (item_weight(c, row).to_double() != 0) return true;
  return false;
}

bool all_gradients_are_zero(const std::vector<TensorCheck>& checks) {
  std::size_t gradients = 0;
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || check.stage != "unscale") continue;
    if (!check.zero_signal) return false;
    ++gradients;
  }
  return gradients > 0;
}

std::string listed(const std::set<int>& windows) {
  std::string text = windows.size() == 1 ? "window" : "windows";
  std::string before = " ";
  for (const int window : windows) text += before + std::to_string(window), before = ", ";
  return text;
}

}  // namespace

std::string dead_steps(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const std::set<int> skipped = skipped_windows(trace);
  std::set<int> stepped;
  for (int window = 0; window < static_cast<int>(c.windows.size()); ++window)
    if (!skipped.contains(window)) stepped.insert(window);
  if (stepped.empty()) return "";
  const bool counts = std::ranges::any_of(stepped, [&](int window) { return has_an_item(c, window); });
  if (counts && !all_gradients_are_zero(checks)) return "";
  std::string text = "every gradient that a step took is exactly zero: dead runs agree whatever they compute";
  if (!skipped.empty()) text += "; " + listed(skipped) + " overflowed, without a step";
  if (!counts)
    text +=
        "; no row " + (skipped.empty() ? "" : "of " + listed(stepped) + " ") + "counts, as each is ignored or weighs 0";
  return text;
}

std::string steps_not_taken(const Case& c, const Trace& trace) {
  if (skipped_windows(trace).size() < c.windows.size()) return "";
  std::string text = "unscale";
  if (c.recipe.clip.kind != "none") text += ", clip";
  if (c.recipe.weight_decay.kind != "none") text += ", weight decay";
  return text + " and the optimizer's step";
}

}  // namespace tally
