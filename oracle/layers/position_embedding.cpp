// p_r is the position of row r, W [length, features].
// (position_embedding.1)  y_r = x_r + W_p,  p = p_r
// (position_embedding.2)  dx = dy
// (position_embedding.3)  dW_p = sum of dy_r over the rows with p_r = p
// position_embedding: (position_embedding.1) is one addition, stored; (position_embedding.2) a copy;
// (position_embedding.3) a sum over the rows of each position.
// position_embedding: (position_embedding.1) and (position_embedding.2) bit by bit, as kernels/arithmetic.md writes them.
#include "oracle/case/contract.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/table_rows.hpp"

namespace tally::oracle::position_embedding_kind {
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

const Contract contract{
    .kind = "position_embedding",
    .options = {{.name = "length", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}}},
    .tensors = {{.name = "weight",
                 .role = Role::parameter,
                 .shape = [](const Choice& layer, std::int64_t features) -> std::vector<std::int64_t> {
                   return {layer.integer("length"), features};
                 }}},
    .drawn = false,
    .reads_positions = true,
    .table_length = "length",
    .definition = "y of a row = x + the row of W that its place in its sequence names"};

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Expected rows = looked_up_rows(pass.tensors.at("weight"), pass.tensors.at("positions").v);
  Expected y = added_in_turn(pass.declared, "position_embedding.forward", {&x, &rows});
  if (pass.declared.certifies()) y.v = exact_forward(pass, x).y;
  return {std::move(y), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{dy, {}};
  result.parameters["weight"] = table_gradient(pass.declared, std::move(exact.parameters["weight"]),
                                               pass.tensors.at("weight").v.rows(), pass.tensors.at("positions").v, dy);
  return result;
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  const Expected rows = looked_up_rows(pass.tensors.at("weight"), pass.tensors.at("positions").v);
  return predicted_in_turn(pass.declared, "position_embedding.forward", {x, held(rows)});
}

Prediction dx(const BoundPass&, const Statistics&, const Matrix<float>& dy) { return dy; }

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}, {y, nullptr, dx}}}};

}  // namespace
}  // namespace tally::oracle::position_embedding_kind
