// Round to nearest even, once, into a format: what a bit-exact stage must have stored.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

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

/// The element of the format nearest to x + y, rounded once: the binary64 sum is made odd where it is not exact.
inline double rounded_sum(const Format& format, double x, double y) {
  const double sum = x + y, part = sum - x;
  const double lost = (x - (sum - part)) + (y - part);  // exact (TwoSum), barring overflow
  if (!std::isfinite(sum) || lost == 0) return rounded(format, sum);
  std::int64_t bits = 0;
  std::memcpy(&bits, &sum, sizeof sum);
  return rounded(format, bits % 2 != 0 ? sum : std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY));
}

}  // namespace tally::oracle
