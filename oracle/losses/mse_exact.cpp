// Of a row of F predictions y with targets t: w is the row's item weight, f its c_k of (divisor.2).
// (mse.1)  l = w (1/F) sum_j (y_j - t_j)²
// (mse.2)  dy_j = f w (2/F) (y_j - t_j)
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::mse_exact {
namespace {

template <class T>
LossResult<T> evaluate(const Choice&, const Matrix<T>& y, const Matrix<T>& target, const Matrix<T>& item_weight,
                       const Matrix<T>& row_factor) {
  const T features = static_cast<double>(y.cols());
  LossResult<T> result{Matrix<T>::Zero(1, y.rows()), Matrix<T>(y.rows(), y.cols())};
  for (Eigen::Index r = 0; r < y.rows(); ++r) {
    for (Eigen::Index c = 0; c < y.cols(); ++c) {
      const T difference = y(r, c) - target(r, c);
      result.loss(r) += difference * difference;
      result.dy(r, c) = 2 * difference / features * item_weight(r) * row_factor(r);
    }
    result.loss(r) = result.loss(r) / features * item_weight(r);
  }
  return result;
}

const RegisterExactLoss registered("mse", []<class T>(Scalar<T>) -> ExactLoss<T> { return {evaluate<T>}; });

}  // namespace
}  // namespace tally::oracle::mse_exact
