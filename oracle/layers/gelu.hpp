// GELU and its slope over any scalar, by erf and by tanh: (gelu.1) to (gelu.4) of one element. 1 + erf, 1 + tanh and
// 1 - tanh² are written by erfc, exp and cosh, so that nothing cancels.
#pragma once

#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

template <class T>
struct ErfGelu {
  T root_half = sqrt(T(T(1) / 2));
  T density_at_0 = 1 / sqrt(T(2 * pi<T>()));

  T distribution(const T& x) const { return erfc(T(-x * root_half)) / 2; }
  T value(const T& x) const { return x * distribution(x); }
  T slope(const T& x) const { return distribution(x) + x * exp(T(-x * x / 2)) * density_at_0; }
};

template <class T>
struct TanhGelu {
  T cubic = number<T>(Decimal{"0.044715"});
  T factor = sqrt(T(2 / pi<T>()));

  T argument(const T& x) const { return factor * (x + cubic * x * x * x); }
  /// (1 + tanh u) / 2
  static T half_of_one_plus_tanh(const T& u) { return 1 / (1 + exp(T(-2 * u))); }
  T value(const T& x) const { return x * half_of_one_plus_tanh(argument(x)); }
  T slope(const T& x) const {
    const T u = argument(x), c = cosh(u);
    const T du = factor * (1 + 3 * cubic * x * x);
    return half_of_one_plus_tanh(u) + x / c / c * du / 2;
  }
};

}  // namespace tally::oracle
