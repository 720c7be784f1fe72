// x holds each row's token t_r, W [vocabulary, width]; there is no gradient by tokens.
// (embedding.1)  y_r = W_t,  t = t_r
// (embedding.2)  dW_t = sum of dy_r over the rows with t_r = t; 0 where no row has it, and where t is padding_index
#include "oracle/layers/looked_up.hpp"
#include "oracle/layers/register_exact.hpp"

namespace tally::oracle::embedding_exact {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {looked_up(pass.tensors.at("weight"), x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const Eigen::Index rows = pass.tensors.at("weight").rows();
  return {{}, {{"weight", added_to_rows(rows, x, dy, pass.layer.integer("padding_index"))}}};
}

const RegisterExactLayer registered("embedding", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::embedding_exact
