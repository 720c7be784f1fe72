// An opaque model: its outputs and its gradients are a capture's. What a tap does not give is not known.
#include <limits>

#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sequences.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/folded_factor.hpp"
#include "properties/compare/item_weights.hpp"
#include "properties/compare/tensor_rows.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// Any number.
Expected unknown(const EndToEndWalk& walk, const std::string& parameter) {
  Expected any = oracle::as_read(Tensor(walk.c.precision.storage, walk.c.tensors.at(parameter).shape));
  any.e.setConstant(std::numeric_limits<double>::infinity());
  return any;
}

/// The first of the taps that is there.
const Tensor* first_tap(const EndToEndWalk& walk, std::initializer_list<std::pair<const char*, std::string>> taps) {
  for (const auto& [stage, tensor] : taps)
    if (const Tensor* found = walk.tap(stage, tensor)) return found;
  return nullptr;
}

void hold_if_tapped(EndToEndWalk& walk, const std::string& tensor, Evaluation& loss, const char* output) {
  if (walk.tap("loss", tensor) != nullptr) walk.check_output("loss", tensor, {loss, output}, walk.count);
}

/// The loss of walk.micro_batch, where its outputs are tapped.
void expect_loss_of_outputs(EndToEndWalk& walk) {
  const int k = walk.micro_batch;
  Expected factor = factor_of(walk, k);
  walk.micro_batch = k;
  const bool is_folded = walk.tap("loss", "in.factor") == nullptr;
  if (is_folded) factor = folded(std::move(factor));
  const Choice& loss = walk.c.model.loss;
  const Tensor* y = first_tap(walk, {{"loss", "in.y"}, {"forward", walk.layers.front().label + ".y"}});
  if (is_opaque(loss) || y == nullptr) return;
  const std::int64_t first = walk.first_row_of(k), rows = walk.rows(k);
  const Expected target = oracle::as_read(rows_of(*ScoredTarget(walk.c), first, rows));

  const Expected factors{oracle::Matrix<long double>::Constant(1, rows, factor.v(0, 0)),
                         oracle::Matrix<double>::Constant(1, rows, factor.e(0, 0))};
  Evaluation expected([&] {
    auto both = oracle::loss_bound_rule(loss.kind).evaluate(loss, walk.declared, oracle::as_read(*y), target.v,
                                                            item_weights(walk.c, first, rows), factors);
    if (is_folded) both.dy = of_folded(std::move(both.dy), factor, rows);
    both.loss = {both.loss.v.transpose().eval(), both.loss.e.transpose().eval()};  // one row an item
    return named(std::move(both));
  });
  hold_if_tapped(walk, "loss", expected, "loss");
  hold_if_tapped(walk, "d.y", expected, "dy");
}

}  // namespace

void expect_given(EndToEndWalk& walk, Group& group) {
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    expect_loss_of_outputs(walk);
    oracle::ExpectedTensors gradients;
    for (const std::string& p : walk.parameters) {
      const Tensor* tapped = first_tap(walk, {{"backward", "d." + p}, {"accumulate", "in.d." + p}});
      gradients[p] = tapped == nullptr ? unknown(walk, p) : oracle::as_read(*tapped);
    }
    if (in_ranks(walk.c) && communicates_each(walk.c))
      walk.of_each.push_back({std::move(gradients), {}, {}});
    else
      add_gradients(walk, std::move(gradients));
  }
  walk.micro_batch = -1;
}

}  // namespace tally
