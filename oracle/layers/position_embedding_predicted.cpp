// position_embedding: (position_embedding.1) and (position_embedding.2) bit by bit, as kernels/arithmetic.md writes them.
#include "oracle/tolerance/added_in_turn.hpp"
#include "oracle/tolerance/predicted_layer.hpp"
#include "oracle/tolerance/table_rows.hpp"

namespace tally::oracle::position_embedding_predicted {
namespace {

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  const Expected rows = looked_up_rows(pass.tensors.at("weight"), pass.tensors.at("positions").v);
  return predicted_in_turn(pass.declared, "position_embedding.forward", {x, held(rows)});
}

Prediction dx(const BoundPass&, const Statistics&, const Matrix<float>& dy) { return dy; }

const RegisterPredictedRule registered("position_embedding", {y, nullptr, dx});

}  // namespace
}  // namespace tally::oracle::position_embedding_predicted
