// p_r is the position of row r, W [length, features].
// (position_embedding.1)  y_r = x_r + W_p,  p = p_r
// (position_embedding.2)  dx = dy
// (position_embedding.3)  dW_p = sum of dy_r over the rows with p_r = p
#include "oracle/layers/looked_up.hpp"
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::position_embedding_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {x + looked_up(pass.tensors.at("weight"), pass.tensors.at("positions")), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  const Eigen::Index rows = pass.tensors.at("weight").rows();
  return {dy, {{"weight", added_to_rows(rows, pass.tensors.at("positions"), dy)}}};
}

const RegisterExactLayer registered("position_embedding", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::position_embedding_exact
