// The tensor is zero throughout.
#include "properties/diagnosis/suspect.hpp"

namespace tally::all_zero_suspect {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) { return Values(held.expected.size(), 0.0); }

const RegisterSuspect registered{{
    .name = "all-zero",
    .faults = {},
    .stages = {},
    .sentence = "the tensor is zero throughout: never written, or cleared after",
    .formula = "got = 0",
    .remedy = "look for what never writes the tensor or clears it afterwards, such as a `zero_grad()` before it is "
              "read, or a parameter that the graph does not reach",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::all_zero_suspect
