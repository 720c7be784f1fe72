// add: (add.1) bit by bit, as kernels/arithmetic.md writes it.
#include "oracle/tolerance/added_in_turn.hpp"
#include "oracle/tolerance/predicted_layer.hpp"

namespace tally::oracle::add_predicted {
namespace {

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  std::vector<Matrix<float>> addends{x};
  for (const Expected* other : pass.others) addends.push_back(held(*other));
  return predicted_in_turn(pass.declared, "add.forward", addends);
}

const RegisterPredictedRule registered("add", {y, nullptr, nullptr});

}  // namespace
}  // namespace tally::oracle::add_predicted
