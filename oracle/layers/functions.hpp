// Functions that several layers are made of, exactly or with bounds: GELU, the logistic function, the angle of a rotary
// pair.
#pragma once

#include <numbers>

#include "oracle/layers/heads.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {

// GELU and its slope over any scalar, by erf and by tanh: (gelu.1) to (gelu.4) of one element. 1 + erf, 1 + tanh and
// 1 - tanh² are written by erfc, exp and cosh, so that nothing cancels.

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

// GELU and its slope by the operations of kernels/arithmetic.md in the (v, e) algebra, by erf, (gelu.1) and (gelu.2), and
// by tanh, (gelu.3) and (gelu.4): what gelu is, and a factor of gated layers.
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

// s(x) of (sigmoid.1) as fl(1 / fl(1 + exp(-x))) in the (v, e) algebra: what sigmoid is, and a factor of other
// activations.

inline Bounded logistic_of(const Elementary& fp32, Bounded x) {
  const Bounded growth = exp_of(fp32, {-x.v, x.e});
  // exp(-x) may overflow to inf, which gives 0 where the exact value is below 2^-127: the bound is all of it.
  if (std::isfinite(x.v) && decided(x) && !(std::isfinite(growth.v) && decided(growth))) {
    const double most = 1 / (1 + std::exp(-x.v - x.e));
    return {1 / (1 + std::exp(-x.v)), 2 * most + 0x1p-126};
  }
  return fp32.div({1, 0}, fp32.add({1, 0}, growth));
}

// How fast the pairs of a rotary layer turn. Shared by the exact layer and by the rule, whose own values must be the
// exact ones up to binary64: an angle of a far position shows in a cosine what its rounding lost.

/// B^(-2 i / r), the angle of pair i at position 1.
template <class T>
T frequency(const Choice& rotary, std::int64_t i, std::int64_t rotated) {
  if (i == 0) return T(1);
  const T logarithm = log1p(T(number<T>(rotary.number("base")) - 1));
  return exp(T(-logarithm * T(static_cast<double>(2 * i)) / T(static_cast<double>(rotated))));
}

}  // namespace tally::oracle
