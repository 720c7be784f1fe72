// Round to nearest even, once, into a format: what a bit-exact stage must have stored.
#pragma once

#include <cmath>

#include "oracle/tolerance/format.hpp"

namespace tally::oracle {

/// The element of the format nearest to `value` (ties to even, subnormals kept); infinity from the threshold on.
inline double rounded(const Format& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  if (format.p == 24) return static_cast<float>(value);
  if (!(std::fabs(value) < format.overflow_threshold())) return std::copysign(INFINITY, value);
  const int exponent = std::max(std::ilogb(value), format.emin);
  const double unit = std::ldexp(1, exponent - format.p + 1);
  return std::nearbyint(value / unit) * unit;  // both exact: unit is a power of two
}

}  // namespace tally::oracle
