// sigmoid: (sigmoid.1), and (sigmoid.2) from x, by the operations of kernels/arithmetic.md.
#include "oracle/layers/logistic_bound.hpp"

namespace tally::oracle::sigmoid_bound {
namespace {

ExpectedForward forward(const BoundPass& pass, const Expected& x) { return elementwise_forward(pass, x, logistic_of); }

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded s = logistic_of(fp32, input);
    return fp32.mul(gradient, fp32.mul(s, fp32.sub({1, 0}, s)));
  });
}

const RegisterBoundRule registered("sigmoid", {forward, backward});

}  // namespace
}  // namespace tally::oracle::sigmoid_bound
