// (scale.1)  y = f x
// (scale.2)  dx = f dy
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle::scale_exact {
namespace {

template <class T>
Matrix<T> scaled(const Pass<T>& pass, const Matrix<T>& value) {
  return value * number<T>(pass.layer.number("factor"));
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {scaled(pass, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  return {scaled(pass, dy), {}};
}

const RegisterExactLayer registered("scale", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::scale_exact
