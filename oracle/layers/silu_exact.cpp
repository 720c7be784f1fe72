// Element by element, with the s(x) of (sigmoid.1).
// (silu.1)  y = x s(x)
// (silu.2)  dx = dy (s(x) + x s(x) (1 - s(x)))
// 1 - s(x) is written s(-x): no term overflows, and nothing cancels there.
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle::silu_exact {
namespace {

template <class T>
T logistic(const T& x) {
  return 1 / (1 + exp(T(-x)));
}

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return v * logistic(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy,
                       [](const T& v, const T& d) -> T {
                         const T s = logistic(v), other = logistic(T(-v));
                         return d * (s + v * s * other);
                       }),
          {}};
}

const RegisterExactLayer registered("silu", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::silu_exact
