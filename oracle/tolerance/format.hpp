// Floating-point formats as the bounds see them, and rounding into one. Defined in expected.cpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "oracle/case/tensors/tensor.hpp"

namespace tally::oracle {

// Floating-point formats as the bounds see them: unit roundoff, underflow, overflow.

/// p significand bits including the hidden one; emin exponent of the smallest normal; emax of the largest.
struct Format {
  int p, emin, emax;
  bool flushes_subnormals = false;

  double unit_roundoff() const;  // 2^-p, round to nearest
  double underflow() const;  // largest absolute error of one underflowing operation: 2^(emin-p), or 2^emin if flushed
  double overflow_threshold() const;  // magnitudes from here on round to infinity
};

/// The format of a row of oracle/case/tensors/tensor.hpp. Throws std::invalid_argument for integers.
Format format_of(Dtype dtype);

// Round to nearest even, once, into a format: what a bit-exact stage must have stored.

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
