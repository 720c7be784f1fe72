// Floating-point formats as the bounds see them: unit roundoff, underflow, overflow.
#pragma once

#include "oracle/case/tensor.hpp"

namespace tally::oracle {

/// p significand bits including the hidden one; emin exponent of the smallest normal; emax of the largest.
struct Format {
  int p, emin, emax;
  bool flushes_subnormals = false;

  double unit_roundoff() const;  // 2^-p, round to nearest
  double underflow() const;  // largest absolute error of one underflowing operation: 2^(emin-p), or 2^emin if flushed
  double overflow_threshold() const;  // magnitudes from here on round to infinity
};

/// The format of a row of oracle/case/formats.hpp. Throws std::invalid_argument for integers.
Format format_of(Dtype dtype);

}  // namespace tally::oracle
