// The mean over no items.
#include <limits>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  if (evidence.items(held.name.window, held.name.micro_batch) != 0) return std::nullopt;
  return Values{std::numeric_limits<double>::quiet_NaN()};
}

const RegisterSuspect registered{{
    .name = "empty-micro-batch-nan",
    .faults = {"zero-valid-items-nan"},
    .stages = {"loss"},
    .sentence = "a micro-batch without items divides zero by zero",
    .formula = "c = S 0 / 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
