// Standardising a vector by its own mean and biased variance, and the chain rule through both: what batch_norm applies
// to columns and layer_norm to rows, without weights. The numbered formulas are those of columns.
#pragma once

#include "oracle/real/functions.hpp"
#include "oracle/real/matrix.hpp"

namespace tally::oracle {

template <class T>
struct ExactMoments {
  T mean, var;
  bool of_one = false;  // a single element is its own mean: what is left of it is 0 in any arithmetic

  // NOLINTNEXTLINE(misc-redundant-expression): the zero that the arithmetic of T gives
  T deviation(const T& element) const { return of_one ? T(element - element) : T(element - mean); }
};

/// (batch_norm.1) and (batch_norm.2) of the n elements of v (n >= 1).
template <class T>
ExactMoments<T> moments(const Matrix<T>& v) {
  const T n = static_cast<double>(v.size());
  ExactMoments<T> result{T(0), T(0), v.size() == 1};
  for (Eigen::Index i = 0; i < v.size(); ++i) result.mean += v(i);
  result.mean /= n;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const T deviation = result.deviation(v(i));
    result.var += deviation * deviation;
  }
  result.var /= n;
  return result;
}

/// The h of (batch_norm.4), the moments being given.
template <class T>
Matrix<T> standardised(const Matrix<T>& v, const ExactMoments<T>& m, const T& eps) {
  const T root = sqrt(T(m.var + eps));
  return v.unaryExpr([&](const T& element) -> T { return m.deviation(element) / root; });
}

/// (batch_norm.5), the gradient of <g, standardised(v, moments(v))> by v, of which mean and var are functions:
///   d var   = sum_i g_i (v_i - mean) · (-1/2) (var + eps)^(-3/2)
///   d mean  = sum_i g_i · -(var + eps)^(-1/2)  +  d var · (-2/n) sum_i (v_i - mean)
///   d v_i   = g_i (var + eps)^(-1/2)  +  d var · (2/n) (v_i - mean)  +  d mean / n
template <class T>
Matrix<T> standardised_gradient(const Matrix<T>& v, const ExactMoments<T>& m, const T& eps, const Matrix<T>& g) {
  const T n = static_cast<double>(v.size());
  const T inverse_root = 1 / sqrt(T(m.var + eps));
  T g_sum = 0, g_dot = 0, deviations = 0;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const T deviation = m.deviation(v(i));
    g_sum += g(i);
    g_dot += g(i) * deviation;
    deviations += deviation;
  }
  const T d_var = -g_dot * inverse_root * inverse_root * inverse_root / 2;
  const T d_mean = -g_sum * inverse_root - d_var * 2 * deviations / n;
  return v.binaryExpr(g, [&](const T& element, const T& gradient) -> T {
    return gradient * inverse_root + d_var * 2 * m.deviation(element) / n + d_mean / n;
  });
}

}  // namespace tally::oracle
