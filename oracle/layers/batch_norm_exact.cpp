// Of column c over the n rows r of a group that shares its statistics; k runs over the group's rows too. w and b hold
// an element a column, 1 and 0 where the layer is not affine.
// (batch_norm.1)  mean_c = (1/n) sum_r x_rc
// (batch_norm.2)  var_c = (1/n) sum_r (x_rc - mean_c)²
// (batch_norm.3)  rstd_c = 1 / sqrt(var_c + eps)
// (batch_norm.4)  y_rc = h_rc w_c + b_c,  h_rc = (x_rc - mean_c) rstd_c
// (batch_norm.5)  dx_rc = w_c rstd_c (dy_rc - (1/n) sum_k dy_kc - h_rc (1/n) sum_k dy_kc h_kc)
// (batch_norm.6)  dw_c = sum dy_rc h_rc,  db_c = sum dy_rc,  over the rows of all groups
// (batch_norm.7)  dx_rc = w_c rstd_c dy_rc  with frozen statistics, where mean and var are the running values
// The code of (batch_norm.5) is the chain rule through mean and var (standardise.hpp).
#include <stdexcept>

#include "oracle/layers/register_exact.hpp"
#include "oracle/layers/standardise.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {
namespace {

template <class T>
bool frozen(const Pass<T>& pass) {
  return pass.layer.text("statistics") == "frozen";
}

/// Sizes of the consecutive groups of rows that share statistics.
template <class T>
Cut groups_of(const Pass<T>& pass, Eigen::Index rows) {
  if (pass.layer.text("statistics") != "micro_batch") return {rows};
  std::int64_t sum = 0;
  for (const std::int64_t size : pass.cut) sum += size;
  if (sum != rows)
    throw std::logic_error("batch_norm: the cut holds " + std::to_string(sum) + " rows, x " + std::to_string(rows));
  return pass.cut;
}

/// Column c of one group, and how it is standardised.
template <class T>
struct Column {
  Matrix<T> x;
  ExactMoments<T> moments;
};

template <class T>
Column<T> column_of(const Pass<T>& pass, const Matrix<T>& x, Eigen::Index first, Eigen::Index rows, Eigen::Index c) {
  Column<T> column{x.block(first, c, rows, 1), {}};
  column.moments = frozen(pass) ? ExactMoments<T>{pass.tensors.at("running_mean")(c), pass.tensors.at("running_var")(c)}
                                : moments(column.x);
  return column;
}

template <class T>
Matrix<T> d_column(const Pass<T>& pass, const Column<T>& column, const T& eps, const Matrix<T>& d_xhat) {
  if (!frozen(pass)) return standardised_gradient(column.x, column.moments, eps, d_xhat);
  return d_xhat / sqrt(T(column.moments.var + eps));
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  const Cut groups = groups_of(pass, x.rows());
  const auto group_count = frozen(pass) ? 0 : static_cast<Eigen::Index>(groups.size());
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), Matrix<T>(group_count, x.cols()),
                          Matrix<T>(group_count, x.cols())};
  Eigen::Index first = 0, g = 0;
  for (const std::int64_t rows : groups) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const Column<T> column = column_of(pass, x, first, rows, c);
      Matrix<T> y = standardised(column.x, column.moments, eps);
      if (affine) {
        const T weight = pass.tensors.at("weight")(c), bias = pass.tensors.at("bias")(c);
        y = y.unaryExpr([&](const T& xhat) -> T { return xhat * weight + bias; }).eval();
      }
      result.y.block(first, c, rows, 1) = y;
      if (frozen(pass)) continue;
      result.mean(g, c) = column.moments.mean;
      result.var(g, c) = column.moments.var;
    }
    first += rows;
    ++g;
  }
  if (frozen(pass)) result.mean = result.var = Matrix<T>();
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  Eigen::Index first = 0;
  for (const std::int64_t rows : groups_of(pass, x.rows())) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const Column<T> column = column_of(pass, x, first, rows, c);
      Matrix<T> d_xhat = dy.block(first, c, rows, 1);
      if (affine) {
        d_weight(c) += d_xhat.cwiseProduct(standardised(column.x, column.moments, eps)).sum();
        d_xhat *= pass.tensors.at("weight")(c);
      }
      result.dx.block(first, c, rows, 1) = d_column(pass, column, eps, d_xhat);
    }
    first += rows;
  }
  if (!affine) return result;
  result.parameters["weight"] = d_weight;
  result.parameters["bias"] = dy.colwise().sum();
  return result;
}

const RegisterExactLayer registered("batch_norm", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle
