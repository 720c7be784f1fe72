// silu: (silu.1), and (silu.2) from x as dy s (1 + x (1 - s)), by the operations of kernels/arithmetic.md.
#include "oracle/layers/logistic_bound.hpp"

namespace tally::oracle::silu_bound {
namespace {

constexpr Bounded one{1, 0};

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(
      pass, x, [](const Elementary& fp32, Bounded input) { return fp32.mul(input, logistic_of(fp32, input)); });
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded s = logistic_of(fp32, input);
    const Bounded bracket = fp32.add(one, fp32.mul(input, fp32.sub(one, s)));
    return fp32.in_any_order(fp32.mul(gradient, fp32.mul(s, bracket)), {gradient, s, bracket});
  });
}

const RegisterBoundRule registered("silu", {forward, backward});

}  // namespace
}  // namespace tally::oracle::silu_bound
