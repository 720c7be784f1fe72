// position_embedding: (position_embedding.1) is one addition, stored; (position_embedding.2) a copy;
// (position_embedding.3) a sum over the rows of each position.
#include "oracle/tolerance/added_in_turn.hpp"
#include "oracle/tolerance/certifying.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/table_rows.hpp"

namespace tally::oracle::position_embedding_bound {
namespace {

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Expected rows = looked_up_rows(pass.tensors.at("weight"), pass.tensors.at("positions").v);
  Expected y = added_in_turn(pass.declared, "position_embedding.forward", {&x, &rows});
  if (certifying() != nullptr && !bounds_only()) y.v = exact_forward(pass, x).y;
  return {std::move(y), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{dy, {}};
  result.parameters["weight"] = table_gradient(pass.declared, std::move(exact.parameters["weight"]),
                                               pass.tensors.at("weight").v.rows(), pass.tensors.at("positions").v, dy);
  return result;
}

const RegisterBoundRule registered("position_embedding", {forward, backward});

}  // namespace
}  // namespace tally::oracle::position_embedding_bound
