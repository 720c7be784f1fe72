#include "oracle/case/sequences.hpp"
#include "oracle/tolerance/head_loss.hpp"
#include "properties/compare/end_to_end_step.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/item_weights.hpp"
#include "properties/compare/local_step.hpp"
#include "properties/compare/stack.hpp"
#include "properties/compare/tensor_rows.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// The outputs of a micro-batch; nullptr when they are not certified by the local lens. A resynchronised walk holds
/// them itself.
const Tensor* certified_output(EndToEndWalk& walk, const LayerView& layer) {
  if (walk.resynchronise) return walk.tap("forward", layer.label + ".y");
  if (!walk.certified(walk.name("forward", layer.label + ".y"))) return nullptr;
  if (!walk.certified(walk.name("forward", "in." + layer.label + ".x"))) return nullptr;
  return walk.tap("forward", layer.label + ".y");
}

/// The branch of every element: certain where the interval decides, else the subject's own. None when an open one
/// cannot be adopted; the rule then bounds both branches.
oracle::Decisions relu_decisions(EndToEndWalk& walk, const LayerView& layer, const Expected& x, Group& group) {
  oracle::Matrix<double> active(x.v.rows(), x.v.cols());
  DecisionCount count{0, static_cast<std::uint64_t>(x.v.size())};
  Eigen::Index first = 0;
  bool adoptable = true;
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    const Tensor* taken = nullptr;
    const auto rows = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    for (Eigen::Index i = 0; i < rows && adoptable; ++i) {
      for (Eigen::Index j = 0; j < x.v.cols() && adoptable; ++j) {
        const auto v = static_cast<double>(x.v(first + i, j));
        const double e = x.e(first + i, j);
        active(first + i, j) = v > e ? 1 : 0;
        if (v > e || v + e <= 0 || (std::isnan(v) && e == 0)) continue;
        if (taken == nullptr) taken = certified_output(walk, layer);
        adoptable = taken != nullptr;
        if (!adoptable) break;
        active(first + i, j) = taken->value(static_cast<std::size_t>(i * x.v.cols() + j)) > 0 ? 1 : 0;
        ++count.adopted;
      }
    }
    first += rows;
  }
  walk.micro_batch = -1;
  if (!adoptable) return {};
  group.own.add(count);
  group.count.add(count);
  return {std::move(active)};
}

void hold_statistics_of_group(EndToEndWalk& walk, const Group& group, const LayerView& layer, Evaluation& forward) {
  for (const RowStatistic& each : layer.contract->row_statistics)
    hold_rows(walk, group, "forward", layer.label + "." + each.name, {forward, each.name}, group.count);
  if (layer.layer->kind != "batch_norm" || pools(walk.c, layer)) return;
  const auto hold_one = [&](const char* what) {
    const std::string tensor = layer.label + "." + what;
    walk.micro_batch = layer.window_statistics ? -1 : group.first;
    for (Eigen::Index g = 0; g < forward.at(what).v.rows(); ++g, ++walk.micro_batch) {
      walk.check_output("forward", tensor, {forward, what, g, 1}, group.count);
    }
    walk.micro_batch = -1;
  };
  hold_one("mean");
  hold_one("var");
  hold_one("rstd");
}

void move_running(EndToEndWalk& walk, const Group& group, const LayerView& layer, Evaluation& forward) {
  if ((!layer.batch_statistics && !layer.window_statistics) || pools(walk.c, layer)) return;
  Expected &mean = walk.state.running_mean[layer.label], &var = walk.state.running_var[layer.label];
  walk.micro_batch = layer.window_statistics ? -1 : group.first;
  for (Eigen::Index g = 0; g < forward.at("mean").v.rows(); ++g, ++walk.micro_batch) {
    const std::int64_t rows = layer.window_statistics ? walk.rows_of(group) : walk.rows(walk.micro_batch);
    const auto statistics = [&](const std::string& what) {
      return walk.seen("forward", layer.label + "." + what, rows_of(forward.at(what), g, 1));
    };
    Evaluation next_mean =
        evaluation_of([&] { return oracle::running_mean(walk.declared, *layer.layer, mean, statistics("mean")); });
    Evaluation next_var =
        evaluation_of([&] { return oracle::running_var(walk.declared, *layer.layer, var, statistics("var"), rows); });
    walk.check_output("running_stats", layer.label + ".running_mean", {next_mean}, group.count);
    walk.check_output("running_stats", layer.label + ".running_var", {next_var}, group.count);
    mean = walk.seen("running_stats", layer.label + ".running_mean", next_mean.at(""));
    var = walk.seen("running_stats", layer.label + ".running_var", next_var.at(""));
  }
  walk.micro_batch = -1;
}

oracle::Cut cut_of(const EndToEndWalk& walk, const Group& group) {
  oracle::Cut cut;
  for (int k = group.first; k < group.last; ++k) cut.push_back(walk.rows(k));
  return cut;
}

/// c of each row of the group.
Expected row_factors(EndToEndWalk& walk, const Group& group) {
  Expected factors{oracle::Matrix<long double>(1, walk.rows_of(group)), oracle::Matrix<double>(1, walk.rows_of(group))};
  Eigen::Index row = 0;
  for (int k = group.first; k < group.last; ++k) {
    const Expected c = factor_of(walk, k);
    const auto count = static_cast<Eigen::Index>(walk.rows(k));
    factors.v.middleCols(row, count).setConstant(c.v(0, 0));
    factors.e.middleCols(row, count).setConstant(c.e(0, 0));
    row += count;
  }
  return factors;
}

}  // namespace

bool is_fused_head(const EndToEndWalk& walk, std::size_t i) {
  return i + 1 == walk.layers.size() && walk.layers[i].layer->kind == "linear" &&
         walk.c.model.loss.kind == "cross_entropy" && oracle::fuses_head_and_loss(walk.declared);
}

void hold_rows(EndToEndWalk& walk, const Group& group, const std::string& stage, const std::string& tensor,
               const Output& all, const DecisionCount& behind) {
  Eigen::Index row = 0;
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    walk.check_output(stage, tensor, {all.of, all.name, row, count}, behind);
    row += count;
  }
  walk.micro_batch = -1;
}

void begin_forward(EndToEndWalk& walk, Group& group) {
  Tensor input =
      rows_of(walk.c.tensors.at(input_tensor(walk.c.model)), walk.first_row_of(group.first), walk.rows_of(group));
  if (walk.c.model.tokens) input.shape.push_back(1);
  group.x = oracle::as_read(input);
  group.outputs.reserve(walk.layers.size());
}

void expect_layer(EndToEndWalk& walk, Group& group, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  const Expected& x = group.input_of(layer);
  const oracle::ExpectedTensors tensors =
      expected_inputs(walk, layer, walk.first_row_of(group.first), walk.rows_of(group));
  oracle::Decisions decisions;
  if (layer.layer->kind == "relu") decisions = relu_decisions(walk, layer, x, group);
  oracle::BoundPass pass{*layer.layer, tensors, cut_of(walk, group), walk.declared, decisions};
  for (std::size_t j = 1; j < layer.inputs.size(); ++j) pass.others.push_back(&group.output_of(layer.inputs[j]));
  const auto rule = is_fused_head(walk, i) ? oracle::head_forward : oracle::bound_rule(layer.layer->kind).forward;
  Evaluation forward([&] { return named(rule(pass, x)); });
  hold_rows(walk, group, "forward", layer.label + ".y", {forward, "y"}, group.count);
  hold_statistics_of_group(walk, group, layer, forward);
  move_running(walk, group, layer, forward);
  group.outputs.push_back(walk.seen_rows(group, "forward", layer.label + ".y", forward.at("y")));
  group.decisions.push_back(std::move(decisions));
}

void expect_forward(EndToEndWalk& walk, Group& group) {
  begin_forward(walk, group);
  for (std::size_t i = 0; i < walk.layers.size(); ++i) expect_layer(walk, group, i);
}

void expect_loss(EndToEndWalk& walk, Group& group) {
  const std::int64_t first = walk.first_row_of(group.first), rows = walk.rows_of(group);
  const Choice& loss = walk.c.model.loss;
  const Expected target = oracle::as_read(rows_of(*ScoredTarget(walk.c), first, rows));
  const Expected factors = row_factors(walk, group);
  const auto weights = item_weights(walk.c, first, rows);
  const Expected& y = group.output_of(static_cast<LayerInput>(walk.layers.size()) - 1);
  const bool fused = !walk.layers.empty() && is_fused_head(walk, walk.layers.size() - 1);
  const auto rule = fused ? oracle::head_loss : oracle::loss_bound_rule(loss.kind).evaluate;
  Evaluation expected([&] {
    auto both = rule(loss, walk.declared, y, target.v, weights, factors);
    both.loss = {both.loss.v.transpose().eval(), both.loss.e.transpose().eval()};  // one row an item
    return named(std::move(both));
  });
  hold_rows(walk, group, "loss", "loss", {expected, "loss"}, group.count);
  hold_rows(walk, group, "loss", "d.y", {expected, "dy"}, group.count);
  group.dy = walk.seen_rows(group, "loss", "d.y", expected.at("dy"));
}

}  // namespace tally
