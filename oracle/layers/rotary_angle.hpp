// How fast the pairs of a rotary layer turn. Shared by the exact layer and by the rule, whose own values must be the
// exact ones up to binary64: an angle of a far position shows in a cosine what its rounding lost.
#pragma once

#include "oracle/layers/rotary.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

/// B^(-2 i / r), the angle of pair i at position 1.
template <class T>
T frequency(const Choice& rotary, std::int64_t i, std::int64_t rotated) {
  if (i == 0) return T(1);
  const T logarithm = log1p(T(number<T>(rotary.number("base")) - 1));
  return exp(T(-logarithm * T(static_cast<double>(2 * i)) / T(static_cast<double>(rotated))));
}

}  // namespace tally::oracle
