// Forward, layer by layer, and the running statistics of batch norm.
#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "oracle/case/micro_steps.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/tolerance/ordered_sum.hpp"
#include "oracle/tolerance/rounded.hpp"
#include "oracle/window/predicted_stages.hpp"
#include "properties/compare/local_step.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/stack.hpp"

namespace tally {
namespace {

using oracle::Expected;

void add(LayerInputs& inputs, const std::string& name, const Tensor* tensor) {
  inputs.complete = inputs.complete && tensor != nullptr;
  if (tensor != nullptr) inputs.tensors[name] = tensor;
}

/// What backward reads is what forward read, where that was tapped.
const Tensor* layer_input(LocalWalk& walk, std::size_t i, std::size_t input = 0, const std::string& stage = "forward") {
  const LayerView& layer = walk.layers[i];
  const std::string tensor = "in." + layer.input_name(input);
  const Tensor* producer = stage == "forward" ? received(walk, i, false) : walk.tap("forward", tensor);
  const Tensor* x = walk.handed(stage, tensor, producer != nullptr ? producer : output_read(walk, layer.inputs[input]));
  return layer.reads_tokens ? walk.as_column(x) : x;
}

/// What it leaves beside y.
std::vector<std::string> statistics_of(const LocalWalk& walk, const LayerView& layer) {
  if (pools(walk.c, layer)) return {};  // of all ranks: another stage's
  if (layer.layer->kind == "batch_norm") return {"mean", "var", "rstd"};
  std::vector<std::string> names;
  for (const RowStatistic& each : layer.contract->row_statistics) names.push_back(each.name);
  return names;
}

void hold_statistics(LocalWalk& walk, const LayerView& layer, Evaluation& forward, const oracle::BoundPass& pass) {
  const Bits rstd{[&] { return oracle::predicted_rstd(pass, tapped_statistics(walk, layer)); }};
  for (const std::string& statistic : statistics_of(walk, layer)) {
    if (walk.passes_over("forward", layer.label + "." + statistic)) continue;
    walk.check_output("forward", layer.label + "." + statistic, {forward, statistic}, {},
                      statistic == "rstd" ? rstd : Bits{});
  }
}

/// y = fl(fl(x W^T) + b) by the order that the product's claim names.
oracle::Prediction ordered_output(const LocalWalk& walk, const Tensor& x, const LayerInputs& inputs) {
  if (!oracle::orders_products(walk.declared)) return {};
  const oracle::Matrix<float> weight = oracle::floats_of(*inputs.tensors.at("weight"));
  auto y = oracle::ordered_product(walk.declared, oracle::floats_of(x), weight.transpose());
  const auto bias = inputs.tensors.find("bias");
  if (!y || bias == inputs.tensors.end()) return y;
  y->rowwise() += oracle::floats_of(*bias->second).row(0);
  return y->unaryExpr(
      [&](float z) { return static_cast<float>(oracle::rounded(walk.declared.storage, static_cast<double>(z))); });
}

void check_forward(LocalWalk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  const Tensor* x = layer_input(walk, i);
  const OtherInputs others = other_inputs(walk, i, "forward");
  LayerInputs inputs = layer_inputs(walk, layer, "forward");
  if (pools(walk.c, layer)) check_step_statistics(walk, layer, x, inputs);
  if (x == nullptr || !others.complete || !inputs.complete || !finds_rows(layer, *x, inputs)) return;
  const oracle::BoundPass pass{*layer.layer, walk.read(layer, inputs), {walk.rows(walk.micro_batch)}, walk.declared, {},
                               true,         others.pointers()};
  const oracle::BoundRule& rule = oracle::bound_rule(layer.layer->kind);
  const Evaluation::Stretches some_rows = [&](const std::string& output, Eigen::Index first, Eigen::Index rows) {
    return rule.output_rows(pass, output, walk.read(layer, *x), {}, first, rows);
  };
  Evaluation forward([&] { return named(rule.forward(pass, walk.read(layer, *x))); },
                     rule.output_rows == nullptr ? Evaluation::Stretches() : some_rows);
  const Bits written{[&] { return oracle::predicted_y(pass, oracle::floats_of(*x), tapped_statistics(walk, layer)); }};
  const Bits ordered{[&] { return ordered_output(walk, *x, inputs); }, FailureClass::order};
  const Bits by_bound;  // rows that are looked up have no error: their bits are the bound
  const Bits& y = layer.layer->kind == "linear" ? ordered : layer.reads_tokens ? by_bound : written;
  walk.check_output("forward", layer.label + ".y", {forward, "y"}, {}, y);
  hold_statistics(walk, layer, forward, pass);
}

/// A layer with window statistics: all micro-batches of the group at once.
void check_forward_together(LocalWalk& walk, std::size_t i, int first, int last) {
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
  const oracle::BoundPass pass{*layer.layer, walk.read(layer, inputs), {}, walk.declared, {}};
  Evaluation forward([&] { return named(oracle::bound_rule(layer.layer->kind).forward(pass, stacked(parts))); });
  hold_statistics(walk, layer, forward, pass);
  const oracle::Statistics shared = tapped_statistics(walk, layer);
  Eigen::Index row = 0;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    const Tensor& x = *parts[static_cast<std::size_t>(walk.micro_batch - first)];
    const Bits y{[&] { return oracle::predicted_y(pass, oracle::floats_of(x), shared); }};
    walk.check_output("forward", layer.label + ".y", {forward, "y", row, count}, {}, y);
    row += count;
  }
  walk.micro_batch = -1;
}

}  // namespace

oracle::Statistics tapped_statistics(const LocalWalk& walk, const LayerView& layer) {
  const bool pooled = pools(walk.c, layer);
  const std::vector<std::string> left =
      pooled ? std::vector<std::string>{"mean", "var", "rstd"} : statistics_of(walk, layer);
  const auto read = [&](const char* statistic) {
    if (std::ranges::count(left, statistic) == 0) return oracle::Matrix<float>();
    const std::string tensor = layer.label + "." + statistic;
    const Tensor* tapped =
        walk.tap(pooled ? "sync_statistics" : "forward", tensor, layer.window_statistics ? -1 : walk.micro_batch);
    return tapped == nullptr ? oracle::Matrix<float>() : oracle::floats_of(*tapped);
  };
  return {read("mean"), read("var"), read("rstd")};
}

OtherInputs other_inputs(LocalWalk& walk, std::size_t i, const std::string& stage) {
  OtherInputs others;
  for (std::size_t j = 1; j < walk.layers[i].inputs.size(); ++j) {
    const Tensor* x = layer_input(walk, i, j, stage);
    others.complete = others.complete && x != nullptr;
    if (x != nullptr) others.read.push_back(LocalWalk::read(walk.layers[i], *x));
  }
  return others;
}

const Tensor* output_read(LocalWalk& walk, LayerInput from) {
  if (from == model_input) return walk.rows_of_case(input_tensor(walk.c.model), walk.micro_batch);
  return walk.tap("forward", walk.layers[static_cast<std::size_t>(from)].label + ".y");
}

namespace {

/// What a layer reads of a weight: the stored copy, or, of ranks that share the parameters, what they put together.
const Tensor* copy_read(LocalWalk& walk, const std::string& weight, const std::string& stage) {
  const bool gathered = shards_parameters(walk.c) && std::ranges::count(walk.parameters, weight) > 0;
  return gathered && !walk.passes_over("all_gather", weight)
             ? walk.tap("all_gather", (stage == "backward" ? "again." : "") + weight)
             : walk.cast_copy(weight);
}

}  // namespace

LayerInputs layer_inputs(LocalWalk& walk, const LayerView& layer, const std::string& stage) {
  LayerInputs inputs;
  for (const std::string& name : layer.weights()) {
    const std::string full = layer.full_name(name);
    add(inputs, name, walk.handed(stage, "in." + full, copy_read(walk, full, stage)));
  }
  const bool forward = stage == "forward";  // backward reads mask and running values again, untapped
  const auto more = [&](const std::string& name, const Tensor* producer) {
    add(inputs, name, forward ? walk.handed(stage, "in." + layer.label + "." + name, producer) : producer);
  };
  if (layer.frozen) more("running_mean", walk.state.running_mean[layer.label]);
  if (layer.frozen) more("running_var", walk.state.running_var[layer.label]);
  if (layer.mask) more("mask", walk.mask_of(layer, walk.micro_batch));
  if (layer.reads_sequences) add(inputs, "places", walk.rows_of_case("places", walk.micro_batch));
  if (layer.reads_positions)
    add(inputs, "positions",
        walk.as_column(walk.handed(stage, "in.positions", walk.rows_of_case("positions", walk.micro_batch))));
  return inputs;
}

bool finds_rows(const LayerView& layer, const Tensor& x, const LayerInputs& inputs) {
  if (!layer.looks_up) return true;
  const Tensor& index = layer.reads_tokens ? x : *inputs.tensors.at("positions");
  const std::int64_t end = inputs.tensors.at("weight")->shape.front();
  for (std::size_t i = 0; i < index.elements(); ++i)
    if (index.integer(i) < 0 || index.integer(i) >= end) return false;
  return true;
}

void check_forward(LocalWalk& walk, int first, int last) {
  if (is_opaque(walk.c.model)) return;  // its outputs are given
  for (std::size_t i = 0; i < walk.layers.size(); ++i) {
    if (walk.layers[i].window_statistics) {
      check_forward_together(walk, i, first, last);
      continue;
    }
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) check_forward(walk, i);
    walk.micro_batch = -1;
  }
}

void check_update(LocalWalk& walk, const LayerView& layer, std::int64_t rows) {
  const auto moved = [&](const std::string& running, const std::string& batch, SubjectState::Tensors& state) {
    const std::string stage = "running_stats";
    const Tensor* old = walk.handed(stage, "in." + layer.label + "." + running, state[layer.label]);
    const Tensor* now =
        walk.handed(stage, "in." + layer.label + "." + batch,
                    walk.tap(pools(walk.c, layer) ? "sync_statistics" : "forward", layer.label + "." + batch));
    state[layer.label] = walk.tap(stage, layer.label + "." + running);
    if (old == nullptr || now == nullptr) return;
    const auto bound = [&] {
      const Expected before = oracle::as_read(*old), statistics = oracle::as_read(*now);
      return batch == "mean" ? oracle::running_mean(walk.declared, *layer.layer, before, statistics)
                             : oracle::running_var(walk.declared, *layer.layer, before, statistics, rows);
    };
    const Bits bits{[&] {
      const oracle::Matrix<float> before = oracle::floats_of(*old), statistics = oracle::floats_of(*now);
      return batch == "mean" ? oracle::predicted_running_mean(walk.declared, *layer.layer, before, statistics)
                             : oracle::predicted_running_var(walk.declared, *layer.layer, before, statistics, rows);
    }};
    state[layer.label] = walk.check_output(stage, layer.label + "." + running, bound, {}, bits);
  };
  moved("running_mean", "mean", walk.state.running_mean);
  moved("running_var", "var", walk.state.running_var);
}

void check_running_stats(LocalWalk& walk, int first, int last) {
  for (const LayerView& layer : walk.layers) {
    std::int64_t together = 0;
    for (int k = first; k < last; ++k) together += walk.rows(k);
    if (layer.window_statistics) check_update(walk, layer, together);
    if (!layer.batch_statistics) continue;
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
      const auto window = static_cast<std::size_t>(walk.window), step = static_cast<std::size_t>(walk.micro_batch);
      check_update(walk, layer,
                   pools(walk.c, layer) ? rows_of_step(walk.c, window, step) : walk.rows(walk.micro_batch));
    }
    walk.micro_batch = -1;
  }
}

}  // namespace tally
