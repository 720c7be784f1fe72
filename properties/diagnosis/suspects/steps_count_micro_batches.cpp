// The optimizer counts micro-batches as steps.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.step") return std::nullopt;
  return Values{(held.expected.front() + 1) * evidence.micro_batches(held.name.window) - 1};
}

const RegisterSuspect registered{{
    .name = "steps-count-micro-batches",
    .faults = {"optimizer-count-per-microbatch"},
    .stages = {"optimizer"},
    .sentence = "the optimizer counts micro-batches as steps",
    .formula = "t = (t + 1) K - 1",
    .left = left,
}};

}  // namespace
}  // namespace tally
