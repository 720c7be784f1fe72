// Element by element; NaN counts as above 0. A replayed mask takes the place of the comparison.
// (relu.1)  y = x where x > 0, else 0
// (relu.2)  dx = dy where x > 0, else 0
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/over_rows.hpp"

namespace tally::oracle::relu_exact {
namespace {

/// `value` where the unit is active, else 0.
template <class T>
Matrix<T> gated(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& value) {
  const auto& replayed = pass.decisions.relu_active;
  Matrix<T> result(x.rows(), x.cols());
  const T zero = 0;
  over_rows<T>(x.rows(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = first; r < end; ++r)
      for (Eigen::Index c = 0; c < x.cols(); ++c) {
        const bool active = replayed ? (*replayed)(r, c) != 0 : !(x(r, c) <= zero);
        const T* const gates[] = {&zero, &value(r, c)};  // chosen without a branch: signs come as they like
        result(r, c) = *gates[active];
      }
  });
  return result;
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {gated(pass, x, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  return {gated(pass, x, dy), {}};
}

const RegisterExactLayer registered("relu", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::relu_exact
