// Backward through a group of micro-batches, and the gradient buffers.
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/added_in_turn.hpp"
#include "oracle/tolerance/head_loss.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/compare/end_to_end_step.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/output_gradients.hpp"
#include "properties/compare/stack.hpp"

namespace tally {
namespace {

using oracle::Expected;

oracle::Decisions decisions_of(const oracle::Decisions& all, Eigen::Index first, Eigen::Index count) {
  if (!all.relu_active) return {};
  return {oracle::Matrix<double>(all.relu_active->middleRows(first, count))};
}

/// One layer's backward: of all rows together where they share statistics, and of each micro-batch's own rows.
struct LayerBackward {
  std::optional<Evaluation> whole;
  std::vector<Evaluation> own;
};

using GradientsOfEach = std::vector<Gradients>;

/// Whether the subject adds this parameter's gradients to its buffer without making them.
bool is_added_by_product(const EndToEndWalk& walk, const LayerView& layer, const std::string& name) {
  return layer.layer->kind == "linear" && name == "weight" && !layer.shares_weight &&
         oracle::claim_of(walk.declared, "linear.weight_gradient").algorithm == "into_buffer";
}

Expected transpose(const Expected& x) {
  Expected t{x.v.transpose(), x.e.transpose()};
  if (x.s.size() != 0) {
    t.r = x.r.transpose();
    t.s = x.s.transpose();
  }
  return t;
}

/// The inputs behind the first: rows of what the walk expects of them.
struct Others {
  std::vector<Expected> rows;
  std::vector<const Expected*> pointers;
  Others(const Group& group, const LayerView& layer, Eigen::Index first, Eigen::Index count) {
    for (std::size_t j = 1; j < layer.inputs.size(); ++j)
      rows.push_back(rows_of(group.output_of(layer.inputs[j]), first, count));
    for (const Expected& each : rows) pointers.push_back(&each);
  }
};

Evaluation of_all_rows(EndToEndWalk& walk, const Group& group, std::size_t i, const Expected& dy) {
  return Evaluation([&walk, &group, i, &dy] {
    const LayerView& layer = walk.layers[i];
    const auto tensors = expected_inputs(walk, layer, walk.first_row_of(group.first), walk.rows_of(group));
    const oracle::BoundPass pass{*layer.layer, tensors, {}, walk.declared, group.decisions[i]};
    return named(oracle::bound_rule(layer.layer->kind).backward(pass, group.input_of(layer), dy));
  });
}

/// Of `count` rows from `row` of the group on: the parameters' gradients of those rows of dy.
Evaluation of_rows(EndToEndWalk& walk, const Group& group, std::size_t i, const Expected& dy, Eigen::Index row,
                   Eigen::Index count) {
  return Evaluation([&walk, &group, i, &dy, row, count] {
    const LayerView& layer = walk.layers[i];
    const bool together = layer.window_statistics;
    const auto tensors = expected_inputs(walk, layer, walk.first_row_of(group.first) + row, count);
    const Others others(group, layer, row, count);
    const oracle::BoundPass pass{
        *layer.layer,   tensors,        oracle::Cut{count}, walk.declared, decisions_of(group.decisions[i], row, count),
        layer.gives_dx, others.pointers};
    const Expected& x = group.input_of(layer);
    const auto rule = is_fused_head(walk, i) ? oracle::head_backward : oracle::bound_rule(layer.layer->kind).backward;
    return named(together ? rule(pass, x, only_rows(dy, row, count))
                          : rule(pass, rows_of(x, row, count), rows_of(dy, row, count)));
  });
}

LayerBackward through(EndToEndWalk& walk, const Group& group, std::size_t i, const Expected& dy) {
  LayerBackward backward;
  if (walk.layers[i].window_statistics) backward.whole = of_all_rows(walk, group, i, dy);
  Eigen::Index row = 0;
  for (int k = group.first; k < group.last; ++k) {
    const auto count = static_cast<Eigen::Index>(walk.rows(k));
    backward.own.push_back(of_rows(walk, group, i, dy, row, count));
    row += count;
  }
  return backward;
}

/// The gradient of one of its inputs, of all rows.
Expected input_gradient(LayerBackward& backward, std::size_t input) {
  const std::string name = LayerView::gradient_of_input(input);
  if (backward.whole) return backward.whole->at(name);
  std::vector<Expected> dx;
  for (Evaluation& own : backward.own) dx.push_back(own.at(name));
  return stacked(dx);
}

void hold_layer(EndToEndWalk& walk, const Group& group, std::size_t i, const Expected& dy, LayerBackward& backward,
                GradientsOfEach& kept) {
  const LayerView& layer = walk.layers[i];
  Eigen::Index row = 0;
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    const auto k = static_cast<std::size_t>(walk.micro_batch - group.first);
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    Evaluation& own = backward.own[k];
    for (const RowStatistic& each : layer.contract->backward_statistics)
      walk.check_output("backward", layer.label + "." + each.name, {own, each.name}, group.count);
    for (std::size_t j = 0; j < layer.inputs.size() && layer.gives_dx; ++j) {
      const std::string of = LayerView::gradient_of_input(j);
      const Output dx = backward.whole ? Output{*backward.whole, of, row, count} : Output{own, of};
      walk.check_output("backward", "d." + layer.input_name(j), dx, group.count);
    }
    for (const std::string& name : layer.parameters) {
      const std::string gradient = layer.gradient_name(name);
      if (walk.departure != nullptr && walk.departure->penalty && !layer.shares_weight) {
        const Expected all = with_penalty(walk, layer.full_name(name), own.at(name));
        kept[k].separate[layer.full_name(name)] = walk.held("backward", gradient, [&] { return all; });
        continue;
      }
      walk.check_output("backward", gradient, {own, name}, group.count);
      if (is_added_by_product(walk, layer, name)) {
        kept[k].products[layer.full_name(name)] = {transpose(rows_of(dy, row, count)),
                                                   rows_of(group.input_of(layer), row, count)};
        continue;
      }
      Expected given = walk.seen("backward", gradient, own.at(name));
      if (layer.shares_weight && name == "weight")
        kept[k].given[layer.full_name(name)].push_back(std::move(given));
      else
        kept[k].separate[layer.full_name(name)] = std::move(given);
    }
    row += count;
  }
  walk.micro_batch = -1;
}

/// The gradients of parameters that several layers read are sums of what these give, (add.3).
void add_shared(EndToEndWalk& walk, const Group& group, GradientsOfEach& kept) {
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    Gradients& gradients = kept[static_cast<std::size_t>(walk.micro_batch - group.first)];
    for (const auto& [p, given] : gradients.given) {
      std::vector<const Expected*> addends;
      for (const Expected& each : given) addends.push_back(&each);
      Evaluation sum = evaluation_of([&] { return oracle::added_in_turn(walk.declared, "gradient.add", addends); });
      walk.check_output("fork", "d." + p, {sum}, group.count);
      Expected all = walk.seen("fork", "d." + p, sum.at(""));
      if (walk.departure != nullptr && walk.departure->penalty) all = with_penalty(walk, p, all);
      gradients.separate[p] = std::move(all);
    }
  }
  walk.micro_batch = -1;
}

}  // namespace

struct BackwardPass::State {
  State(EndToEndWalk& walk, Group& group)
      : kept(static_cast<std::size_t>(group.last - group.first)), gradients(walk, group) {}
  GradientsOfEach kept;
  OutputGradients gradients;
};

BackwardPass::BackwardPass(EndToEndWalk& walk, Group& group)
    : walk_(walk), group_(group), state_(std::make_unique<State>(walk, group)) {}
BackwardPass::~BackwardPass() = default;
BackwardPass::BackwardPass(BackwardPass&&) noexcept = default;

Expected BackwardPass::gradient_of(std::size_t i) { return state_->gradients.take(i); }

void BackwardPass::go_through(std::size_t i, const Expected& dy) {
  const LayerView& layer = walk_.layers[i];
  OutputGradients& gradients = state_->gradients;
  if (layer.hands_on) {
    for (std::size_t j = layer.inputs.size(); j-- > 0;) gradients.give({i, j}, dy);
    return;
  }
  LayerBackward backward = through(walk_, group_, i, dy);
  hold_layer(walk_, group_, i, dy, backward, state_->kept);
  for (std::size_t j = layer.inputs.size(); j-- > 0 && layer.gives_dx;)
    gradients.give({i, j},
                   walk_.seen_rows(group_, "backward", "d." + layer.input_name(j), input_gradient(backward, j)));
}

void BackwardPass::finish() {
  walk_.count.add(group_.own);
  add_shared(walk_, group_, state_->kept);
  if (in_ranks(walk_.c) && (communicates_each(walk_.c) || goes_back_last_first(walk_.c))) {
    for (Gradients& each : state_->kept) walk_.of_each.push_back(std::move(each));
    return;
  }
  add_gradients(walk_, group_, state_->kept);
}

void expect_backward(EndToEndWalk& walk, Group& group) {
  BackwardPass pass(walk, group);
  for (std::size_t i = walk.layers.size(); i-- > 0;)
    if (walk.layers[i].has_gradient) pass.go_through(i, pass.gradient_of(i));
  pass.finish();
}

}  // namespace tally
