// The tensor is zero throughout.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"

namespace tally::all_zero_suspect {
namespace {

/// Zeros; nothing for a tensor that is right to be zero in most places, where they say little: what is lost of it is
/// told by others.
std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  const auto zeros = static_cast<std::size_t>(std::ranges::count(held.expected, 0.0));
  if (2 * zeros > held.expected.size()) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

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
