// The schedule moves in a window that took no step.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "step") return std::nullopt;
  double skipped = 0;
  for (int w = 0; w <= held.name.window; ++w) skipped += evidence.scalar(w, "schedule", "in.found", 0);
  return Values{held.expected.front() + skipped};
}

const RegisterSuspect registered{{
    .name = "schedule-counts-skips",
    .faults = {"rate-advances-on-skip"},
    .stages = {"schedule"},
    .sentence = "the schedule also counts windows that were skipped",
    .formula = "t + 1 in a skipped window",
    .left = left,
}};

}  // namespace
}  // namespace tally
