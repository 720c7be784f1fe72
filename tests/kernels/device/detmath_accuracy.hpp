// The device's functions beside MPFR's, and the distance between them.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/device/detmath.hpp"

namespace tally {

struct Function {
  std::string name;
  float (*computed)(float);
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);  // correctly rounded to the precision of the result
  long double (*long_double)(long double);
};

inline std::vector<Function> functions() {
  return {{"exp", det_exp, mpfr_exp, expl},
          {"log", det_log, mpfr_log, logl},
          {"tanh", det_tanh, mpfr_tanh, tanhl},
          {"erf", det_erf, mpfr_erf, erfl},
          {"rsqrt", det_rsqrt, mpfr_rec_sqrt, [](long double x) { return 1 / sqrtl(x); }}};
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
