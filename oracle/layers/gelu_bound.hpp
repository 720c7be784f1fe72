// GELU and its slope by the operations of kernels/arithmetic.md in the (v, e) algebra, by erf, (gelu.1) and (gelu.2), and
// by tanh, (gelu.3) and (gelu.4): what gelu is, and a factor of gated layers.
#pragma once

#include <numbers>

#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {

namespace gelu {

inline constexpr long double inverse_root_2 = 1 / std::numbers::sqrt2_v<long double>;
inline constexpr long double inverse_root_2_pi =
    std::numbers::inv_sqrtpi_v<long double> / std::numbers::sqrt2_v<long double>;
inline constexpr long double root_2_over_pi =
    std::numbers::inv_sqrtpi_v<long double> * std::numbers::sqrt2_v<long double>;
inline constexpr long double cubic = 0.044715L;
inline constexpr Bounded half{0.5, 0}, one{1, 0};

inline Bounded one_plus_erf(const Elementary& fp32, Bounded x) {
  static const Bounded c = constant(inverse_root_2);
  return fp32.add(one, erf_of(fp32, fp32.mul(x, c)));
}

inline Bounded inner_tanh(const Elementary& fp32, Bounded x) {
  static const Bounded k = constant(root_2_over_pi), a = constant(cubic);
  const Bounded cube = fp32.mul(x, fp32.mul(x, x));
  return tanh_of(fp32, fp32.mul(k, fp32.add(x, fp32.mul(a, cube))));
}

}  // namespace gelu

struct BoundedGeluErf {
  static Bounded value(const Elementary& fp32, Bounded x) {
    return fp32.mul(fp32.mul(gelu::half, x), gelu::one_plus_erf(fp32, x));
  }
  static Bounded slope(const Elementary& fp32, Bounded x) {
    static const Bounded c = constant(gelu::inverse_root_2_pi);
    const Bounded cumulative = fp32.mul(gelu::half, gelu::one_plus_erf(fp32, x));
    const Bounded density = fp32.mul(exp_of(fp32, fp32.mul({-0.5, 0}, fp32.mul(x, x))), c);
    return fp32.add(cumulative, fp32.mul(x, density));
  }
};

struct BoundedGeluTanh {
  static Bounded value(const Elementary& fp32, Bounded x) {
    return fp32.mul(fp32.mul(gelu::half, x), fp32.add(gelu::one, gelu::inner_tanh(fp32, x)));
  }
  static Bounded slope(const Elementary& fp32, Bounded x) {
    static const Bounded k = constant(gelu::root_2_over_pi), c = constant(gelu::cubic);
    const Bounded a = shared(fp32.mul({3, 0}, c));
    const Bounded t = gelu::inner_tanh(fp32, x);
    const Bounded inner = fp32.mul(k, fp32.add(gelu::one, fp32.mul(a, fp32.mul(x, x))));
    const Bounded straight = fp32.mul(gelu::half, fp32.add(gelu::one, t));
    const Bounded bend = fp32.mul(fp32.mul(gelu::half, x), fp32.sub(gelu::one, fp32.mul(t, t)));
    return fp32.add(straight, fp32.mul(bend, inner));
  }
};

}  // namespace tally::oracle
