// The norm is taken over the last parameter only.
#include "properties/diagnosis/suspects/norm_of.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return norm_of(evidence, held.name.window, "norm", "in.d.", {parameters_of(evidence.c.model).back()});
}

const RegisterSuspect registered{{
    .name = "norm-of-last-parameter",
    .faults = {},
    .stages = {"norm"},
    .sentence = "the norm is that of the last parameter only: each overwrites the one before",
    .formula = "norm = |g_last|",
    .left = left,
}};

}  // namespace
}  // namespace tally
