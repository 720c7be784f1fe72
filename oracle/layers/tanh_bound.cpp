// tanh: (tanh.1), and (tanh.2) from x, by the operations of kernels/arithmetic.md.
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::tanh_bound {
namespace {

ExpectedForward forward(const BoundPass& pass, const Expected& x) { return elementwise_forward(pass, x, tanh_of); }

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded t = tanh_of(fp32, input);
    return fp32.mul(gradient, fp32.sub({1, 0}, fp32.mul(t, t)));
  });
}

const RegisterBoundRule registered("tanh", {forward, backward});

}  // namespace
}  // namespace tally::oracle::tanh_bound
