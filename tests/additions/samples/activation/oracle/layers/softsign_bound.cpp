// softsign: with d = fl(1 + |x|), (softsign.1) as one quotient and (softsign.2) as two.
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::softsign_bound {
namespace {

Bounded divisor(const Elementary& fp32, Bounded x) { return fp32.add({1, 0}, {std::fabs(x.v), x.e}); }

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(
      pass, x, [](const Elementary& fp32, Bounded input) { return fp32.div(input, divisor(fp32, input)); });
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded d = divisor(fp32, input);
    return fp32.div(fp32.div(gradient, d), d);
  });
}

const RegisterBoundRule registered("softsign", {forward, backward});

}  // namespace
}  // namespace tally::oracle::softsign_bound
