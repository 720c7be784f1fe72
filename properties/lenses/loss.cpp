// The loss.
#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "properties/judge/loss_inputs.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// c as the loss reads it; where an opaque model's loss makes none, folded into other constants.
struct Factor {
  Expected value;
  bool known = true, is_folded = false;
};

Factor factor_read(Walk& walk) {
  const bool given = is_opaque(walk.c.model);
  if (!walk.is_local()) {
    const bool made = !given || walk.tap("loss", "in.factor") != nullptr;
    Expected c = factor_of(walk);
    walk.told_input("loss", "in.factor", c);
    return {made ? std::move(c) : folded(std::move(c)), true, !made};
  }
  const Expected wanted = oracle::predicted_factor(walk.declared, walk.c, static_cast<std::size_t>(walk.window),
                                                   static_cast<std::size_t>(walk.micro_batch), walk.state.scale.scale);
  const Value c = walk.output("loss", "in.factor", wanted);
  if (c.known()) return {*c.read()};
  return {folded(wanted), given, true};
}

/// The outputs that the loss reads; for an opaque model, what a capture has of them.
Value outputs_read(Walk& walk) {
  if (!walk.is_local() && is_opaque(walk.c.model)) {
    const Tensor* y = walk.tap("loss", "in.y");
    if (y == nullptr) y = walk.tap("forward", walk.layers.front().label + ".y");
    return y == nullptr ? Value() : Value(oracle::as_read(*y));
  }
  const Value output = walk.layers.empty() ? walk.rows_of_case(input_tensor(walk.c.model), walk.micro_batch)
                                           : walk.left("forward", walk.layers.back().label + ".y");
  const Value read = walk.input("loss", "in.y", output);
  return is_opaque(walk.c.model) && !read.known() ? output : read;
}

}  // namespace

void walk_loss(Walk& walk) {
  const int k = walk.micro_batch;
  const Choice& loss = walk.c.model.loss;
  const bool given = is_opaque(walk.c.model), stated = !is_opaque(loss);
  const Value y = outputs_read(walk);
  const Value labels = stated ? walk.rows_of_case("target", k) : Value();
  Value target = walk.input("loss", "in.target", labels);
  if (given && !target.known()) target = labels;
  const Factor c = factor_read(walk);
  if (!stated || !y.known() || !target.known() || !c.known) return;
  if (target.bits() != nullptr &&
      !are_targets_of(loss, *target.bits(), static_cast<std::size_t>(y.bits()->shape.back())))
    return;  // handed on wrong
  const std::int64_t rows = walk.rows(k), first = walk.first_row_of(k);
  const bool fused = !walk.layers.empty() && is_fused_head(walk, walk.layers.size() - 1);
  const auto rule = fused ? oracle::head_loss : oracle::loss_bound_rule(loss.kind).evaluate;
  Evaluation expected(walk.declared, [&](const oracle::Declared& declared) {
    const Expected factor{oracle::Matrix<long double>::Constant(1, rows, c.value.v(0, 0)),
                          oracle::Matrix<double>::Constant(1, rows, c.value.e(0, 0))};
    auto both = rule(loss, declared, *y.read(), target.read()->v, item_weights(walk.c, first, rows), factor);
    if (c.is_folded) both.dy = of_folded(std::move(both.dy), c.value, rows);
    return named(std::move(both));
  });
  const auto is_held = [&](const char* tensor) {
    return walk.is_local() || !given || walk.tap("loss", tensor) != nullptr;
  };
  if (!walk.passes_over("loss", "loss") && is_held("loss")) walk.output("loss", "loss", {expected, "loss"});
  const Bits gradient{[&]() -> oracle::Prediction {
    if (loss.kind != kinds::mse || c.is_folded) return {};
    return oracle::predicted_mse_gradient(walk.declared, y.floats(), target.floats(), item_weights(walk.c, first, rows),
                                          static_cast<float>(c.value.v(0, 0)));
  }};
  if (is_held("d.y")) walk.output("loss", "d.y", {expected, "dy"}, {}, gradient);
}

}  // namespace tally
