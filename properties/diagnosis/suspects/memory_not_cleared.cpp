// The first window starts from whatever memory held. Fresh memory reads as NaN here.
#include <limits>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const bool first =
      held.name.window == 0 && held.name.micro_batch == 0 && !parameter_in(evidence, held, "in.buffer.").empty();
  if (!first) return std::nullopt;
  return Values(held.expected.size(), std::numeric_limits<double>::quiet_NaN());
}

const RegisterSuspect registered{{
    .name = "memory-not-cleared",
    .faults = {"uninitialised-accumulator"},
    .stages = {"accumulate"},
    .sentence = "the buffer is never cleared, and starts from whatever memory held",
    .formula = "A_0 = fresh memory",
    .left = left,
}};

}  // namespace
}  // namespace tally
