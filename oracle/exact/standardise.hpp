// Standardising by mean and biased variance, with the chain rule through both, and batch_norm of rows whose statistics
// are given.
#pragma once

#include "oracle/exact/exact.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

// Standardising a vector by its own mean and biased variance, and the chain rule through both: what batch_norm applies
// to columns and layer_norm to rows, without weights. The numbered formulas are those of columns.

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

// batch_norm of rows whose statistics are given, as ranks put them together of all their rows: (batch_norm.4), the
// (batch_norm.5) of these rows by the sums of all, and the (batch_norm.6) of these rows alone. Among the layer's tensors
// stand, [1, features] each,
//   pooled.mean, pooled.rstd          of all rows
//   pooled.sum_dy, pooled.sum_dy_h    in backward where it gives dx: sum_k dy_k and sum_k dy_k h_k over all rows
//   pooled.count [1, 1]               beside these: how many rows there are

inline constexpr const char* pooled_mean = "pooled.mean";
inline constexpr const char* pooled_rstd = "pooled.rstd";
inline constexpr const char* pooled_sum_dy = "pooled.sum_dy";
inline constexpr const char* pooled_sum_dy_h = "pooled.sum_dy_h";
inline constexpr const char* pooled_count = "pooled.count";

/// Whether a pass has them.
template <class T>
bool is_pooled(const Pass<T>& pass) {
  return pass.tensors.contains(pooled_rstd);
}

/// The h of (batch_norm.4), of column c.
template <class T>
Matrix<T> pooled_column(const Pass<T>& pass, const Matrix<T>& x, Eigen::Index c) {
  const T mean = pass.tensors.at(pooled_mean)(c), rstd = pass.tensors.at(pooled_rstd)(c);
  return x.col(c).unaryExpr([&](const T& element) -> T { return T(element - mean) * rstd; });
}

template <class T>
ForwardResult<T> pooled_forward(const Pass<T>& pass, const Matrix<T>& x) {
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}, {}};
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    Matrix<T> y = pooled_column(pass, x, c);
    if (pass.tensors.contains("weight")) {
      const T weight = pass.tensors.at("weight")(c), bias = pass.tensors.at("bias")(c);
      y = y.unaryExpr([&](const T& h) -> T { return h * weight + bias; }).eval();
    }
    result.y.col(c) = y;
  }
  return result;
}

template <class T>
BackwardResult<T> pooled_backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  BackwardResult<T> result{Matrix<T>::Zero(x.rows(), x.cols()), {}};
  const bool affine = pass.tensors.contains("weight"), gives_dx = pass.tensors.contains(pooled_count);
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    const Matrix<T> h = pooled_column(pass, x, c);
    for (Eigen::Index r = 0; r < x.rows(); ++r) d_weight(c) += dy(r, c) * h(r);
    if (!gives_dx) continue;
    const T n = pass.tensors.at(pooled_count)(0), rstd = pass.tensors.at(pooled_rstd)(c);
    const T scale = affine ? T(pass.tensors.at("weight")(c) * rstd) : rstd;
    const T mean_dy = pass.tensors.at(pooled_sum_dy)(c) / n, mean_dy_h = pass.tensors.at(pooled_sum_dy_h)(c) / n;
    for (Eigen::Index r = 0; r < x.rows(); ++r) result.dx(r, c) = scale * (dy(r, c) - mean_dy - h(r) * mean_dy_h);
  }
  if (!affine) return result;
  result.parameters["weight"] = d_weight;
  result.parameters["bias"] = dy.colwise().sum();
  return result;
}

}  // namespace tally::oracle
