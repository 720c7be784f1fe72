// sigmoid: s = fl(1 / fl(1 + exp(-x))), and backward from x: fl(dy fl(s fl(1 - s))).
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {
namespace {

Bounded sigmoid(const Elementary& fp32, Bounded x) {
  const Bounded growth = exp_of(fp32, {-x.v, x.e});
  // exp(-x) may overflow to inf, which gives 0 where the exact value is below 2^-127: the bound is all of it.
  if (std::isfinite(x.v) && decided(x) && !(std::isfinite(growth.v) && decided(growth))) {
    const double most = 1 / (1 + std::exp(-x.v - x.e));
    return {1 / (1 + std::exp(-x.v)), 2 * most + 0x1p-126};
  }
  return fp32.div({1, 0}, fp32.add({1, 0}, growth));
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) { return elementwise_forward(pass, x, sigmoid); }

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded s = sigmoid(fp32, input);
    return fp32.mul(gradient, fp32.mul(s, fp32.sub({1, 0}, s)));
  });
}

const RegisterBoundRule registered("sigmoid", {forward, backward});

}  // namespace
}  // namespace tally::oracle
