// Of row r over its n features c; k runs over the row's features too. w holds an element a feature, and w' = 1 where
// the layer is not affine, whatever the offset is.
// (rms_norm.1)  rstd_r = 1 / sqrt((1/n) sum_c x_rc² + eps)
// (rms_norm.2)  y_rc = h_rc w'_c,  h_rc = x_rc rstd_r,  w'_c = offset + w_c
// (rms_norm.3)  dx_rc = rstd_r (g_rc - h_rc (1/n) sum_k g_rk h_rk),  g_rc = dy_rc w'_c
// (rms_norm.4)  dw_c = sum_r dy_rc h_rc
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle::rms_norm_exact {
namespace {

template <class T>
T reciprocal_root(const Matrix<T>& row, const T& eps) {
  T squares = 0;
  for (Eigen::Index c = 0; c < row.size(); ++c) squares += row(c) * row(c);
  return 1 / sqrt(T(squares / T(static_cast<double>(row.size())) + eps));
}

/// w', one row.
template <class T>
Matrix<T> weights(const Pass<T>& pass, Eigen::Index features) {
  if (!pass.layer.flag("affine")) return Matrix<T>::Constant(1, features, T(1));
  const T offset = number<T>(pass.layer.number("offset"));
  return pass.tensors.at("weight").unaryExpr([&](const T& w) -> T { return offset + w; });
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const Matrix<T> w = weights(pass, x.cols());
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}, {}};
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r);
    const T rstd = reciprocal_root(row, eps);
    for (Eigen::Index c = 0; c < x.cols(); ++c) result.y(r, c) = row(c) * rstd * w(c);
  }
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const T eps = number<T>(pass.layer.number("eps")), n = static_cast<double>(x.cols());
  const Matrix<T> w = weights(pass, x.cols());
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r);
    const T rstd = reciprocal_root(row, eps);
    T along = 0;
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      along += dy(r, c) * w(c) * row(c) * rstd;
      d_weight(c) += dy(r, c) * row(c) * rstd;
    }
    for (Eigen::Index c = 0; c < x.cols(); ++c) result.dx(r, c) = rstd * (dy(r, c) * w(c) - row(c) * rstd * along / n);
  }
  if (pass.layer.flag("affine")) result.parameters["weight"] = d_weight;
  return result;
}

const RegisterExactLayer registered("rms_norm", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::rms_norm_exact
