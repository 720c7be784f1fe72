// Element by element.
// (tanh.1)  y = tanh x
// (tanh.2)  dx = dy (1 - tanh² x)
// The slope is written 1 / cosh² x, so that nothing cancels for large |x|.
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle::tanh_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return tanh(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy, [](const T& v, const T& d) -> T { return over_cosh_squared(d, v); }), {}};
}

const RegisterExactLayer registered("tanh", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::tanh_exact
