// Backward through a group of micro-batches, and the gradient buffers.
#include "oracle/tolerance/rule.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/stack.hpp"

namespace tally {
namespace {

using oracle::Expected;

oracle::Decisions decisions_of(const oracle::Decisions& all, Eigen::Index first, Eigen::Index count) {
  if (!all.relu_active) return {};
  return {oracle::Matrix<double>(all.relu_active->middleRows(first, count))};
}

/// Gradients of each micro-batch's parameters, by full name.
using GradientsOfEach = std::vector<oracle::ExpectedTensors>;

void keep_parameters(const LayerView& layer, const oracle::ExpectedTensors& gradients, oracle::ExpectedTensors& kept) {
  for (const std::string& name : layer.parameters) kept[layer.full_name(name)] = gradients.at(name);
}

/// Through one layer: dx of all rows, and the parameters' gradients of each micro-batch from its own rows of dy.
Expected through(EndToEndWalk& walk, const Group& group, std::size_t i, const Expected& dy, GradientsOfEach& kept) {
  const LayerView& layer = walk.layers[i];
  const auto& rule = oracle::bound_rule(layer.layer->kind);
  const std::int64_t first = walk.first_row_of(group.first), all = walk.rows_of(group);
  const Expected& x = group.inputs[i];
  std::vector<Expected> dx;
  Eigen::Index row = 0;
  const oracle::ExpectedTensors whole = expected_inputs(walk, layer, first, all);
  if (layer.window_statistics) {
    dx.push_back(rule.backward({*layer.layer, whole, {}, walk.subject, group.decisions[i]}, x, dy).dx);
  }
  for (int k = group.first; k < group.last; ++k) {
    const auto count = static_cast<Eigen::Index>(walk.rows(k));
    const bool together = layer.window_statistics;
    const oracle::ExpectedTensors own =
        layer.mask ? expected_inputs(walk, layer, first + row, count) : oracle::ExpectedTensors{};
    const oracle::BoundPass pass{*layer.layer, layer.mask ? own : whole, together ? oracle::Cut{} : oracle::Cut{count},
                                 walk.subject, decisions_of(group.decisions[i], row, count)};
    const Expected own_x = together ? x : rows_of(x, row, count);
    const Expected own_dy = together ? only_rows(dy, row, count) : rows_of(dy, row, count);
    oracle::ExpectedBackward backward = rule.backward(pass, own_x, own_dy);
    if (!together) dx.push_back(std::move(backward.dx));
    keep_parameters(layer, backward.parameters, kept[static_cast<std::size_t>(k - group.first)]);
    row += count;
  }
  return stacked(dx);
}

void hold_layer(EndToEndWalk& walk, const Group& group, const LayerView& layer, const Expected& dx,
                const GradientsOfEach& kept) {
  Eigen::Index row = 0;
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    if (layer.gives_dx) walk.hold("backward", "d." + layer.label + ".x", rows_of(dx, row, count), group.count);
    for (const std::string& name : layer.parameters) {
      const std::string full = layer.full_name(name);
      walk.hold("backward", "d." + full, kept[static_cast<std::size_t>(walk.micro_batch - group.first)].at(full),
                group.count);
    }
    row += count;
  }
  walk.micro_batch = -1;
}

/// The buffer of a parameter with one more gradient. It starts at zero: the first addition only stores. A compensated
/// sum is bounded as a whole, since its compensation is not in the buffer.
Expected added(EndToEndWalk& walk, const std::string& p, const Expected& gradient) {
  const auto before = walk.buffers.find(p);
  if (oracle::claim_of(walk.subject, "accumulate").algorithm == "kahan") {
    walk.addends[p].push_back(gradient);
    return oracle::compensated_sum(walk.subject, walk.addends[p]);
  }
  return before == walk.buffers.end() ? oracle::cast(walk.subject.accumulate, gradient)
                                      : oracle::accumulated(walk.subject, before->second, gradient);
}

void accumulate(EndToEndWalk& walk, const Group& group, const GradientsOfEach& kept) {
  for (walk.micro_batch = group.first; walk.micro_batch < group.last; ++walk.micro_batch) {
    for (const std::string& p : walk.parameters) {
      const Expected& gradient = kept[static_cast<std::size_t>(walk.micro_batch - group.first)].at(p);
      walk.buffers[p] = added(walk, p, gradient);
      const bool direct = walk.micro_batches() == 1 && walk.tap("accumulate", "buffer." + p) == nullptr &&
                          walk.tap("accumulate", "in.buffer." + p) == nullptr;
      if (!direct) walk.hold("accumulate", "buffer." + p, walk.buffers[p]);
    }
  }
  walk.micro_batch = -1;
}

}  // namespace

void expect_backward(EndToEndWalk& walk, Group& group) {
  GradientsOfEach kept(static_cast<std::size_t>(group.last - group.first));
  Expected dy = std::move(group.dy);
  for (std::size_t i = walk.layers.size(); i-- > 0 && walk.layers[i].has_gradient;) {
    Expected dx = through(walk, group, i, dy, kept);
    hold_layer(walk, group, walk.layers[i], dx, kept);
    dy = std::move(dx);
  }
  walk.count.add(group.own);
  accumulate(walk, group, kept);
}

}  // namespace tally
