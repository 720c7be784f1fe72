#include "properties/laws/refusal.hpp"

namespace tally {
namespace {

bool has_gradient(const Trace& trace) {
  for (const Tap& tap : trace.taps()) {
    if (tap.name.stage != "backward" || !tap.name.tensor.starts_with("d.")) continue;
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      if (tap.value.value(i) != 0) return true;
    }
  }
  return false;
}

}  // namespace

std::string refusal_of(const Outcome& settled, const Trace& trace) {
  if (settled.status != Status::vacuous || !has_gradient(trace)) return "";
  return settled.message.empty() ? "every check is vacuous" : settled.message;
}

}  // namespace tally
