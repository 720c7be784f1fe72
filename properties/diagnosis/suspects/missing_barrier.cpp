// Partial sums are read before their threads have written them. Memory that nobody wrote reads as NaN on the host.
#include <limits>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return Values{std::numeric_limits<double>::quiet_NaN()};
}

const RegisterSuspect registered{{
    .name = "missing-barrier",
    .faults = {"missing-barrier"},
    .stages = {"norm"},
    .sentence = "partial sums are read before their threads have written them",
    .formula = "norm = partial sums nobody has written, NaN",
    .left = left,
}};

}  // namespace
}  // namespace tally
