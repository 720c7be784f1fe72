// gelu: (gelu.1) and (gelu.2), or (gelu.3) and (gelu.4), by the operations of kernels/arithmetic.md in the (v, e)
// algebra.
#include "oracle/layers/gelu_bound.hpp"

namespace tally::oracle::gelu_bound {
namespace {

template <class Gelu>
Bounded gradient(const Elementary& fp32, Bounded x, Bounded dy) {
  return fp32.mul(dy, Gelu::slope(fp32, x));
}

bool by_tanh(const BoundPass& pass) { return pass.layer.text("approximate") == "tanh"; }

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return elementwise_forward(pass, x, by_tanh(pass) ? BoundedGeluTanh::value : BoundedGeluErf::value);
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, by_tanh(pass) ? gradient<BoundedGeluTanh> : gradient<BoundedGeluErf>);
}

const RegisterBoundRule registered("gelu", {forward, backward});

}  // namespace
}  // namespace tally::oracle::gelu_bound
