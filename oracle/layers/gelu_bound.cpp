// gelu: (gelu.1) and (gelu.2), or (gelu.3) and (gelu.4), by the operations of kernels/arithmetic.md in the (v, e)
// algebra.
#include <numbers>

#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

constexpr long double inverse_root_2 = 1 / std::numbers::sqrt2_v<long double>;
constexpr long double inverse_root_2_pi = std::numbers::inv_sqrtpi_v<long double> / std::numbers::sqrt2_v<long double>;
constexpr long double root_2_over_pi = std::numbers::inv_sqrtpi_v<long double> * std::numbers::sqrt2_v<long double>;
constexpr long double cubic = 0.044715L;
constexpr Bounded half{0.5, 0}, one{1, 0};

Bounded one_plus_erf(const Elementary& fp32, Bounded x) {
  static const Bounded c = constant(inverse_root_2);
  return fp32.add(one, erf_of(fp32, fp32.mul(x, c)));
}

Bounded gelu_erf(const Elementary& fp32, Bounded x) { return fp32.mul(fp32.mul(half, x), one_plus_erf(fp32, x)); }

Bounded gelu_erf_gradient(const Elementary& fp32, Bounded x, Bounded dy) {
  static const Bounded c = constant(inverse_root_2_pi);
  const Bounded cumulative = fp32.mul(half, one_plus_erf(fp32, x));
  const Bounded density = fp32.mul(exp_of(fp32, fp32.mul({-0.5, 0}, fp32.mul(x, x))), c);
  return fp32.mul(dy, fp32.add(cumulative, fp32.mul(x, density)));
}

Bounded inner_tanh(const Elementary& fp32, Bounded x) {
  static const Bounded k = constant(root_2_over_pi), a = constant(cubic);
  const Bounded cube = fp32.mul(x, fp32.mul(x, x));
  return tanh_of(fp32, fp32.mul(k, fp32.add(x, fp32.mul(a, cube))));
}

Bounded gelu_tanh(const Elementary& fp32, Bounded x) {
  return fp32.mul(fp32.mul(half, x), fp32.add(one, inner_tanh(fp32, x)));
}

Bounded gelu_tanh_gradient(const Elementary& fp32, Bounded x, Bounded dy) {
  static const Bounded k = constant(root_2_over_pi), c = constant(cubic);
  const Bounded a = shared(fp32.mul({3, 0}, c));
  const Bounded t = inner_tanh(fp32, x);
  const Bounded slope = fp32.mul(k, fp32.add(one, fp32.mul(a, fp32.mul(x, x))));
  const Bounded straight = fp32.mul(half, fp32.add(one, t));
  const Bounded bend = fp32.mul(fp32.mul(half, x), fp32.sub(one, fp32.mul(t, t)));
  return fp32.mul(dy, fp32.add(straight, fp32.mul(bend, slope)));
}

bool by_tanh(const BoundPass& pass) { return pass.layer.text("approximate") == "tanh"; }

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(pass, x, by_tanh(pass) ? gelu_tanh : gelu_erf);
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, by_tanh(pass) ? gelu_tanh_gradient : gelu_erf_gradient);
}

const RegisterBoundRule registered("gelu", {forward, backward});

}  // namespace
}  // namespace tally::oracle
