// The schedule moves once for every micro-batch.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "step" || evidence.scalar(held.name.window, "schedule", "in.found", 0) != 0)
    return std::nullopt;
  return Values{evidence.scalar(held.name.window, "schedule", "in.step", 0) + evidence.micro_batches(held.name.window)};
}

const RegisterSuspect registered{{
    .name = "schedule-counts-micro-batches",
    .faults = {"sched-per-microbatch"},
    .stages = {"schedule"},
    .sentence = "the schedule moves once for every micro-batch",
    .formula = "t + K a window",
    .left = left,
}};

}  // namespace
}  // namespace tally
