#include "properties/laws/refusal.hpp"

#include <optional>
#include <string>

namespace tally {
namespace {

/// Whether one element of the gradients that a stage left is not zero; nullopt where it left none.
std::optional<bool> left_gradient(const Trace& trace, const std::string& stage) {
  std::optional<bool> found;
  for (const Tap& tap : trace.taps()) {
    if (tap.name.stage != stage || !tap.name.tensor.starts_with("d.")) continue;
    found = found.value_or(false);
    for (std::size_t i = 0; i < tap.value.elements() && !*found; ++i) found = tap.value.value(i) != 0;
  }
  return found;
}

/// Whether there is a gradient: that of the windows, where it is tapped, as those of micro-batches may cancel, and the
/// update is zero then.
bool has_gradient(const Trace& trace) {
  const auto of_windows = left_gradient(trace, "unscale");
  return of_windows ? *of_windows : left_gradient(trace, "backward").value_or(false);
}

}  // namespace

std::string refusal_of(const Outcome& settled, const Trace& trace) {
  if (settled.status != Status::vacuous || !has_gradient(trace)) return "";
  return settled.message.empty() ? "every check is vacuous" : settled.message;
}

}  // namespace tally
