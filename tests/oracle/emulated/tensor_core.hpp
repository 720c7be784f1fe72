// Tensor cores by the published bit models: a block of products and the accumulator, each truncated to F bits below the
// largest exponent, summed exactly, rounded once.
#pragma once

#include <cmath>
#include <vector>

#include "oracle/tolerance/format.hpp"

namespace tally::oracle::emulated {

/// Toward zero, subnormals kept.
inline double truncated(const Format& format, double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1, std::max(std::ilogb(x), format.emin) - format.p + 1);
  return std::trunc(x / unit) * unit;
}

inline constexpr Format tf32_format{11, -126, 127};
inline double tf32_truncated(double x) { return truncated(tf32_format, x); }
/// Nearest, ties away from zero (cvt.rna).
inline double tf32_nearest(double x) {
  const double unit = std::ldexp(1, std::max(std::ilogb(x), tf32_format.emin) - tf32_format.p + 1);
  return x == 0 ? x : std::round(x / unit) * unit;
}

struct Blocks {
  std::size_t terms;
  int fraction_bits;
  Format operands, result;  // result fp32: truncated; fp16: to nearest even
};

/// c + sum of a b over [first, last) in one block.
inline double block(const Blocks& core, const std::vector<double>& a, const std::vector<double>& b, std::size_t first,
                    std::size_t last, double c) {
  const auto exponent = [&](double x) { return std::max(std::ilogb(x), core.operands.emin); };
  int largest = core.result.p == 24 ? -133 : -21;
  if (c != 0) largest = std::max(largest, std::ilogb(c));
  for (std::size_t i = first; i < last; ++i) {
    if (a[i] != 0 && b[i] != 0) largest = std::max(largest, exponent(a[i]) + exponent(b[i]));
  }
  const double quantum = std::ldexp(1, largest - core.fraction_bits);
  double sum = std::trunc(c / quantum) * quantum;
  for (std::size_t i = first; i < last; ++i) sum += std::trunc(a[i] * b[i] / quantum) * quantum;  // exact
  return core.result.p == 24 ? truncated(core.result, sum) : rounded(core.result, sum);
}

inline double dot(const Blocks& core, const std::vector<double>& a, const std::vector<double>& b, double c = 0) {
  for (std::size_t i = 0; i < a.size(); i += core.terms)
    c = block(core, a, b, i, std::min(i + core.terms, a.size()), c);
  return c;
}

}  // namespace tally::oracle::emulated
