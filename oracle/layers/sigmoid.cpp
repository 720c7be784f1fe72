// Element by element.
// (sigmoid.1)  y = s(x) = 1 / (1 + e^-x)
// (sigmoid.2)  dx = dy s(x) (1 - s(x))
// 1 - s(x) is written s(-x), which neither cancels nor overflows.
// sigmoid: (sigmoid.1), and (sigmoid.2) from x, by the operations of kernels/arithmetic.md.
#include "oracle/case/contract.hpp"
#include "oracle/layers/functions.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/register_kind.hpp"

namespace tally::oracle::sigmoid_kind {
namespace {

template <class T>
T sigmoid(const T& x) {
  return 1 / (1 + exp(T(-x)));
}

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return sigmoid(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy, [](const T& v, const T& d) -> T { return d * sigmoid(v) * sigmoid(T(-v)); }), {}};
}

const Contract contract{.kind = "sigmoid", .options = {}, .definition = "y = 1 / (1 + exp(-x))"};

ExpectedForward forward(const BoundPass& pass, const Expected& x) { return elementwise_forward(pass, x, logistic_of); }

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return elementwise_backward(pass, x, dy, [](const Elementary& fp32, Bounded input, Bounded gradient) {
    const Bounded s = logistic_of(fp32, input);
    return fp32.mul(gradient, fp32.mul(s, fp32.sub({1, 0}, s)));
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::sigmoid_kind
