// Element by element.
// (sigmoid.1)  y = s(x) = 1 / (1 + e^-x)
// (sigmoid.2)  dx = dy s(x) (1 - s(x))
// 1 - s(x) is written s(-x), which neither cancels nor overflows.
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle::sigmoid_exact {
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

const RegisterExactLayer registered("sigmoid", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::sigmoid_exact
