// The tensor is the right one times a number.
#include "properties/diagnosis/suspect.hpp"

namespace tally::off_by_a_factor_suspect {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) { return held.expected; }

const RegisterSuspect registered{{
    .name = "off-by-a-factor",
    .faults = {},
    .stages = {},
    .sentence = "the tensor is the right one times a factor",
    .formula = "got = f expected",
    .remedy = "look for a factor that stands once too often or is missing where this tensor is made",
    .left = left,
    .fits_factor = true,
}};

}  // namespace
}  // namespace tally::off_by_a_factor_suspect
