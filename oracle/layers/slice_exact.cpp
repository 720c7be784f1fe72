// (slice.1)  y = x[begin .. end)
// (slice.2)  dx[begin .. end) = dy, 0 elsewhere
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::slice_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const Eigen::Index begin = pass.layer.integer("begin");
  return {x.middleCols(begin, pass.layer.integer("end") - begin), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  Matrix<T> dx = Matrix<T>::Zero(x.rows(), x.cols());
  dx.middleCols(pass.layer.integer("begin"), dy.cols()) = dy;
  return {dx, {}};
}

const RegisterExactLayer registered("slice", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::slice_exact
