// batch_norm of rows whose statistics are given, as ranks put them together of all their rows: (batch_norm.4), the
// (batch_norm.5) of these rows by the sums of all, and the (batch_norm.6) of these rows alone. Among the layer's tensors
// stand, [1, features] each,
//   pooled.mean, pooled.rstd          of all rows
//   pooled.sum_dy, pooled.sum_dy_h    in backward where it gives dx: sum_k dy_k and sum_k dy_k h_k over all rows
//   pooled.count [1, 1]               beside these: how many rows there are
#pragma once

#include "oracle/layers/exact.hpp"

namespace tally::oracle {

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
