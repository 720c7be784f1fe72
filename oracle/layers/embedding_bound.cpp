// embedding: (embedding.1) is a copy, without an error of its own; (embedding.2) a sum over the rows of each token.
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/table_rows.hpp"

namespace tally::oracle::embedding_bound {
namespace {

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return {looked_up_rows(pass.tensors.at("weight"), x.v), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result;
  result.parameters["weight"] =
      table_gradient(pass.declared, std::move(exact.parameters["weight"]), pass.tensors.at("weight").v.rows(), x.v, dy,
                     pass.layer.integer("padding_index"));
  return result;
}

const RegisterBoundRule registered("embedding", {forward, backward});

}  // namespace
}  // namespace tally::oracle::embedding_bound
