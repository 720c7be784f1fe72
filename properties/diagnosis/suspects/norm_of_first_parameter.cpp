// The norm is taken over the first parameter only.
#include "properties/diagnosis/suspects/norm_of.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return norm_of(evidence, held.name.window, "norm", "in.d.", {parameters_of(evidence.c.model).front()});
}

const RegisterSuspect registered{{
    .name = "norm-of-first-parameter",
    .faults = {"clip-local-norm"},
    .stages = {"norm"},
    .sentence = "the norm is taken over the first parameter only, not over all",
    .formula = "norm = |g_first|",
    .left = left,
}};

}  // namespace
}  // namespace tally
