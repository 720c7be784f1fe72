// Element by element.
// (tanh.1)  y = tanh x
// (tanh.2)  dx = dy (1 - tanh² x)
// The slope is written 1 / cosh² x, so that nothing cancels for large |x|.
// tanh: (tanh.1), and (tanh.2) from x, by the operations of kernels/arithmetic.md.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::tanh_kind {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return tanh(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy, [](const T& v, const T& d) -> T { return over_cosh_squared(d, v); }), {}};
}

const Contract contract{.kind = "tanh", .options = {}, .definition = "y = tanh(x)"};

ExpectedForward forward(const BoundPass& pass, const Expected& x) { return elementwise_forward(pass, x, tanh_of); }

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded t = tanh_of(fp32, input);
    return fp32.mul(gradient, fp32.sub({1, 0}, fp32.mul(t, t)));
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::tanh_kind
