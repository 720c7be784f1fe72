// Element by element.
// (softsign.1)  y = x / (1 + |x|)
// (softsign.2)  dx = dy / (1 + |x|)²
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle::softsign_exact {
namespace {

template <class T>
T divisor(const T& x) {
  return 1 + larger(x, T(-x));
}

template <class T>
ForwardResult<T> forward(const Pass<T>&, const Matrix<T>& x) {
  return {x.unaryExpr([](const T& v) -> T { return v / divisor(v); }), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>& x, const Matrix<T>& dy) {
  return {x.binaryExpr(dy, [](const T& v, const T& d) -> T { return d / divisor(v) / divisor(v); }), {}};
}

const RegisterExactLayer registered("softsign", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::softsign_exact
