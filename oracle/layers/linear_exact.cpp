// y = x Wᵀ + b. With L = <dy, y>: dL/dx = dy W, dL/dW = dyᵀ x, dL/db = sum over rows of dy.
#include "oracle/layers/register_exact.hpp"
#include "oracle/real/product.hpp"

namespace tally::oracle {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  ForwardResult<T> result{product_with_transposed(x, pass.tensors.at("weight")), {}, {}};
  if (!pass.layer.flag("bias")) return result;
  const Matrix<T>& bias = pass.tensors.at("bias");
  for (Eigen::Index r = 0; r < x.rows(); ++r)
    for (Eigen::Index c = 0; c < bias.cols(); ++c) result.y(r, c) += bias(0, c);
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
}  // namespace tally::oracle
