// Forward, layer by layer, and the running statistics of batch norm.
#include "properties/compare/local_walk.hpp"
#include "properties/compare/stack.hpp"

namespace tally {
namespace {

using oracle::Expected;

void add(LayerInputs& inputs, const std::string& name, const Tensor* tensor) {
  inputs.complete = inputs.complete && tensor != nullptr;
  if (tensor != nullptr) inputs.tensors[name] = tensor;
}

const Tensor* layer_input(LocalWalk& walk, std::size_t i) {
  const int k = walk.micro_batch;
  const Tensor* producer = i == 0 ? walk.rows_of_case("x", k) : walk.tap("forward", walk.layers[i - 1].label + ".y", k);
  return walk.handed("forward", "in." + walk.layers[i].label + ".x", producer);
}

void hold_statistics(LocalWalk& walk, const LayerView& layer, Evaluation& forward) {
  const std::string& kind = layer.layer->kind;
  if (kind != "batch_norm" && kind != "layer_norm") return;
  walk.hold("forward", layer.label + ".mean", {forward, "mean"});
  if (kind == "batch_norm") walk.hold("forward", layer.label + ".var", {forward, "var"});
  walk.hold("forward", layer.label + ".rstd", {forward, "rstd"});
}

void check_layer(LocalWalk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  const Tensor* x = layer_input(walk, i);
  const LayerInputs inputs = layer_inputs(walk, layer, "forward");
  if (x == nullptr || !inputs.complete) return;
  Evaluation forward([&] {
    const oracle::ExpectedTensors& tensors = walk.read(layer, inputs);
    const oracle::BoundPass pass{*layer.layer, tensors, {walk.rows(walk.micro_batch)}, walk.subject, {}};
    return named(oracle::bound_rule(layer.layer->kind).forward(pass, oracle::as_read(*x)));
  });
  walk.hold("forward", layer.label + ".y", {forward, "y"});
  hold_statistics(walk, layer, forward);
}

/// A layer with window statistics: all micro-batches of the group at once.
void check_together(LocalWalk& walk, std::size_t i, int first, int last) {
  const LayerView& layer = walk.layers[i];
  std::vector<const Tensor*> parts;
  LayerInputs inputs;
  bool complete = true;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const Tensor* x = layer_input(walk, i);
    inputs = layer_inputs(walk, layer, "forward");
    complete = complete && x != nullptr && inputs.complete;
    parts.push_back(x);
  }
  walk.micro_batch = -1;
  if (!complete) return;
  Evaluation forward([&] {
    const oracle::ExpectedTensors& tensors = walk.read(layer, inputs);
    const oracle::BoundPass pass{*layer.layer, tensors, {}, walk.subject, {}};
    return named(oracle::bound_rule(layer.layer->kind).forward(pass, stacked(parts)));
  });
  hold_statistics(walk, layer, forward);
  Eigen::Index row = 0;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    walk.hold("forward", layer.label + ".y", {forward, "y", row, count});
    row += count;
  }
  walk.micro_batch = -1;
}

/// One update of both running values by statistics over `rows` rows.
void check_update(LocalWalk& walk, const LayerView& layer, std::int64_t rows) {
  const auto moved = [&](const std::string& running, const std::string& batch, SubjectState::Tensors& state) {
    const std::string stage = "running_stats";
    const Tensor* old = walk.handed(stage, "in." + layer.label + "." + running, state[layer.label]);
    const Tensor* now =
        walk.handed(stage, "in." + layer.label + "." + batch, walk.tap("forward", layer.label + "." + batch));
    state[layer.label] = walk.tap(stage, layer.label + "." + running);
    if (old == nullptr || now == nullptr) return;
    state[layer.label] = walk.hold(stage, layer.label + "." + running, [&] {
      const Expected before = oracle::as_read(*old), statistics = oracle::as_read(*now);
      return batch == "mean" ? oracle::running_mean(walk.subject, *layer.layer, before, statistics)
                             : oracle::running_var(walk.subject, *layer.layer, before, statistics, rows);
    });
  };
  moved("running_mean", "mean", walk.state.running_mean);
  moved("running_var", "var", walk.state.running_var);
}

}  // namespace

LayerInputs layer_inputs(LocalWalk& walk, const LayerView& layer, const std::string& stage) {
  LayerInputs inputs;
  for (const std::string& name : layer.parameters) {
    const std::string full = layer.full_name(name);
    add(inputs, name, walk.handed(stage, "in." + full, walk.tap("cast", full, -1)));
  }
  const bool forward = stage == "forward";  // backward reads mask and running values again, untapped
  const auto more = [&](const std::string& name, const Tensor* producer) {
    add(inputs, name, forward ? walk.handed(stage, "in." + layer.label + "." + name, producer) : producer);
  };
  if (layer.frozen) more("running_mean", walk.state.running_mean[layer.label]);
  if (layer.frozen) more("running_var", walk.state.running_var[layer.label]);
  if (layer.mask) more("mask", walk.rows_of_case(layer.label + ".mask", walk.micro_batch));
  return inputs;
}

void check_forward(LocalWalk& walk, int first, int last) {
  for (std::size_t i = 0; i < walk.layers.size(); ++i) {
    if (walk.layers[i].window_statistics) {
      check_together(walk, i, first, last);
      continue;
    }
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) check_layer(walk, i);
    walk.micro_batch = -1;
  }
}

void check_running_stats(LocalWalk& walk, int first, int last) {
  for (const LayerView& layer : walk.layers) {
    std::int64_t together = 0;
    for (int k = first; k < last; ++k) together += walk.rows(k);
    if (layer.window_statistics) check_update(walk, layer, together);
    if (!layer.batch_statistics) continue;
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
      check_update(walk, layer, walk.rows(walk.micro_batch));
    }
    walk.micro_batch = -1;
  }
}

}  // namespace tally
