// Of row r over its n features c; k runs over the row's features too. w and b hold an element a feature, 1 and 0 where
// the layer is not affine.
// (layer_norm.1)  mean_r = (1/n) sum_c x_rc
// (layer_norm.2)  var_r = (1/n) sum_c (x_rc - mean_r)²
// (layer_norm.3)  rstd_r = 1 / sqrt(var_r + eps)
// (layer_norm.4)  y_rc = h_rc w_c + b_c,  h_rc = (x_rc - mean_r) rstd_r
// (layer_norm.5)  dx_rc = rstd_r (g_rc - (1/n) sum_k g_rk - h_rc (1/n) sum_k g_rk h_rk),  g_rc = dy_rc w_c
// (layer_norm.6)  dw_c = sum_r dy_rc h_rc,  db_c = sum_r dy_rc
// The code of (layer_norm.5) is the chain rule through mean and var (standardise.hpp).
#include "oracle/layers/register_exact.hpp"
#include "oracle/layers/standardise.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle::layer_norm_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), Matrix<T>(x.rows(), 1), Matrix<T>(x.rows(), 1)};
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r);
    const ExactMoments<T> m = moments(row);
    const Matrix<T> xhat = standardised(row, m, eps);
    result.mean(r, 0) = m.mean;
    result.var(r, 0) = m.var;
    for (Eigen::Index c = 0; c < x.cols(); ++c)
      result.y(r, c) = affine ? T(xhat(c) * pass.tensors.at("weight")(c) + pass.tensors.at("bias")(c)) : xhat(c);
  }
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r), dy_row = dy.row(r);
    const ExactMoments<T> m = moments(row);
    const Matrix<T> d_xhat = affine ? Matrix<T>(dy_row.cwiseProduct(pass.tensors.at("weight"))) : dy_row;
    result.dx.row(r) = standardised_gradient(row, m, eps, d_xhat);
    if (affine) d_weight += dy_row.cwiseProduct(standardised(row, m, eps));
  }
  if (!affine) return result;
  result.parameters["weight"] = d_weight;
  result.parameters["bias"] = dy.colwise().sum();
  return result;
}

const RegisterExactLayer registered("layer_norm", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::layer_norm_exact
