// Element by element over the inputs x_0, x_1, …; the same output named twice counts twice.
// (add.1)  y = x_0 + x_1 + …
// (add.2)  dx_j = dy for every j: the gradient is handed on, and nothing is computed
// (add.3)  the gradient of an output that several layers read is the sum of what its readers give
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::add_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  Matrix<T> y = x;
  for (const Matrix<T>* more : pass.others) y += *more;
  return {std::move(y), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>&, const Matrix<T>&, const Matrix<T>& dy) {
  return {dy, {}};
}

const RegisterExactLayer registered("add", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::add_exact
