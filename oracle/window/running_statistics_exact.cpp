// r is a feature's running value, m the layer's momentum; mean and var are a group's of n rows, by (batch_norm.1)
// and (batch_norm.2).
// (running_statistics.1)  r <- (1 - m) r + m mean  for the mean
// (running_statistics.2)  r <- (1 - m) r + m var n / (n - 1)  for the variance
#include "oracle/exact/exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

/// What both values do with the number they take in.
template <class T>
Matrix<T> moved(const Layer& layer, const Matrix<T>& running, const Matrix<T>& batch) {
  const T momentum = number<T>(layer.number("momentum"));
  return T(1 - momentum) * running + momentum * batch;
}

}  // namespace

template <class T>
Matrix<T> running_mean(const Layer& layer, const Matrix<T>& running, const Matrix<T>& mean) {
  return moved(layer, running, mean);
}

template <class T>
Matrix<T> running_var(const Layer& layer, const Matrix<T>& running, const Matrix<T>& biased_var, std::int64_t rows) {
  const T n = static_cast<double>(rows);
  return moved<T>(layer, running, biased_var * T(n / (n - 1)));
}

template Matrix<Real> running_mean(const Layer&, const Matrix<Real>&, const Matrix<Real>&);
template Matrix<long double> running_mean(const Layer&, const Matrix<long double>&, const Matrix<long double>&);
template Matrix<Ball> running_mean(const Layer&, const Matrix<Ball>&, const Matrix<Ball>&);
template Matrix<ShortBall> running_mean(const Layer&, const Matrix<ShortBall>&, const Matrix<ShortBall>&);
template Matrix<Real> running_var(const Layer&, const Matrix<Real>&, const Matrix<Real>&, std::int64_t);
template Matrix<long double> running_var(const Layer&, const Matrix<long double>&, const Matrix<long double>&,
                                         std::int64_t);
template Matrix<Ball> running_var(const Layer&, const Matrix<Ball>&, const Matrix<Ball>&, std::int64_t);
template Matrix<ShortBall> running_var(const Layer&, const Matrix<ShortBall>&, const Matrix<ShortBall>&, std::int64_t);

}  // namespace tally::oracle
