// x holds each row's token t_r, W [vocabulary, width]; there is no gradient by tokens.
// (embedding.1)  y_r = W_t,  t = t_r
// (embedding.2)  dW_t = sum of dy_r over the rows with t_r = t; 0 where no row has it, and where t is padding_index
// embedding: (embedding.1) is a copy, without an error of its own; (embedding.2) a sum over the rows of each token.
#include "oracle/case/contract.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/table_rows.hpp"

namespace tally::oracle::embedding_kind {
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

/// The features that enter are the vocabulary's: a token stands for the row that is 1 at its place.
const Contract contract{
    .kind = "embedding",
    .options = {{.name = "width", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
                {.name = "padding_index",
                 .type = OptionType::integer,
                 .standard = std::int64_t{-1},
                 .range = {.at_least = "-1"}}},
    .tensors = {{.name = "weight",
                 .role = Role::parameter,
                 .shape = [](const Choice& layer, std::int64_t vocabulary) -> std::vector<std::int64_t> {
                   return {vocabulary, layer.integer("width")};
                 }}},
    .drawn = false,
    .reads_tokens = true,
    .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("width"); },
    .definition = "y of a row = the row of W that its token names"};

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

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::embedding_kind
