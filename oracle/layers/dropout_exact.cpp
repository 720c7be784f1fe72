// Element by element; mask is 1 where an element is kept and 0 where it is dropped.
// (dropout.1)  y = x · mask / (1 - p)
// (dropout.2)  dx = dy · mask / (1 - p)
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle::dropout_exact {
namespace {

template <class T>
Matrix<T> masked(const Pass<T>& pass, const Matrix<T>& value) {
  const T keep = 1 - number<T>(pass.layer.number("p"));
  const Matrix<T>& mask = pass.tensors.at("mask");
  return value.binaryExpr(mask, [&keep](const T& v, const T& m) -> T { return v * m / keep; });
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {masked(pass, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  return {masked(pass, dy), {}};
}

const RegisterExactLayer registered("dropout", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::dropout_exact
