// x has a row a sample and a column a feature, W a row a feature of y, b an element a feature of y. Of any loss, dy
// is the gradient by y, dx, dW and db those by the others, here as in every layer.
// (linear.1)  y = x Wᵀ + b
// (linear.2)  dx = dy W
// (linear.3)  dW = dyᵀ x
// (linear.4)  db_c = sum_r dy_rc
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/over_rows.hpp"
#include "oracle/real/product.hpp"

namespace tally::oracle::linear_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  ForwardResult<T> result{product_with_transposed(x, pass.tensors.at("weight")), {}, {}};
  if (!pass.layer.flag("bias")) return result;
  const Matrix<T>& bias = pass.tensors.at("bias");
  over_rows<T>(x.rows(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = first; r < end; ++r)
      for (Eigen::Index c = 0; c < bias.cols(); ++c) result.y(r, c) += bias(0, c);
  });
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  BackwardResult<T> result;
  if (pass.gives_dx) result.dx = product(dy, pass.tensors.at("weight"));
  result.parameters["weight"] = product_of_transposed(dy, x);
  if (pass.layer.flag("bias")) result.parameters["bias"] = column_sums(dy);
  return result;
}

const RegisterExactLayer registered("linear", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::linear_exact
