// The device's functions beside MPFR's, and the distance between them.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/device/detmath.hpp"

namespace tally {

struct Function {
  std::string name;
  float (*computed)(float);
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);  // within an ulp in the precision of the result
  double (*libm)(double);

  friend void PrintTo(const Function& f, std::ostream* out) { *out << f.name; }
};

/// Unlike mpfr_rec_sqrt, -infinity for -0, as IEEE 754 has it.
inline int reciprocal_root(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding) {
  mpfr_sqrt(y, x, rounding);
  return mpfr_ui_div(y, 1, y, rounding);
}

inline std::vector<Function> functions() {
  return {{"exp", det_exp, mpfr_exp, std::exp},
          {"exp2", det_exp2, mpfr_exp2, std::exp2},
          {"log", det_log, mpfr_log, std::log},
          {"tanh", det_tanh, mpfr_tanh, std::tanh},
          {"erf", det_erf, mpfr_erf, std::erf},
          {"rsqrt", det_rsqrt, reciprocal_root, [](double x) { return 1 / std::sqrt(x); }}};
}

/// Distance in units in the last place of the exact value, as fp32 would represent it (2^-149 for subnormals).
/// Infinities and NaN must agree: 0 or infinity. An infinity is right from 2^128 - 2^103 on.
inline long double ulps(float computed, long double exact) {
  if (std::isnan(exact) || std::isnan(computed)) return std::isnan(exact) == std::isnan(computed) ? 0 : HUGE_VALL;
  const bool overflows = std::fabs(exact) >= 0x1p128L - 0x1p103L;
  if (overflows || std::isinf(computed)) {
    const bool same_sign = std::signbit(computed) == std::signbit(exact);
    return overflows && std::isinf(computed) && same_sign ? 0 : HUGE_VALL;
  }
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::fabs(static_cast<long double>(computed) - exact) / std::ldexp(1.0L, exponent - 23);
}

}  // namespace tally
