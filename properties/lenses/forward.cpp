// Forward, layer by layer, and the running statistics of batch norm.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::BoundPass;
using oracle::Expected;

/// What it leaves beside y.
std::vector<std::string> statistics_of(const Walk& walk, const LayerView& layer) {
  if (pools(walk.c, layer)) return {};  // of all ranks: another stage's
  if (layer.layer->kind == kinds::batch_norm) return {"mean", "var", "rstd"};
  std::vector<std::string> names;
  for (const RowStatistic& each : layer.contract->row_statistics) names.push_back(each.name);
  return names;
}

void hold_statistics(Walk& walk, const LayerView& layer, Evaluation& forward, const BoundPass& pass) {
  const Bits rstd{[&] { return oracle::predicted_rstd(pass, tapped_statistics(walk, layer)); }};
  for (const std::string& statistic : statistics_of(walk, layer)) {
    if (walk.passes_over("forward", layer.label + "." + statistic)) continue;
    if (!walk.is_local() && forward.at(statistic).v.size() == 0) continue;  // frozen ones
    walk.output("forward", layer.label + "." + statistic, {forward, statistic}, {},
                statistic == "rstd" ? rstd : Bits{});
  }
}

/// y = fl(fl(x W^T) + b) by the order that the product's claim names.
oracle::Prediction ordered_output(const Walk& walk, const Value& x, const LayerInputs& inputs) {
  if (!oracle::orders_products(walk.declared)) return {};
  auto y = oracle::ordered_product(walk.declared, x.floats(), inputs.tensors.at("weight").floats().transpose());
  const auto bias = inputs.tensors.find("bias");
  if (!y || bias == inputs.tensors.end()) return y;
  y->rowwise() += bias->second.floats().row(0);
  return y->unaryExpr(
      [&](float z) { return static_cast<float>(oracle::rounded(walk.declared.storage, static_cast<double>(z))); });
}

/// The tap of a micro-batch's outputs, that a branch may be taken over from; nullptr where the local lens does not
/// certify it. A walk that goes on from taps holds them itself.
const Tensor* certified_output(Walk& walk, const LayerView& layer) {
  if (walk.lens == Lens::group) return walk.tap("forward", layer.label + ".y");
  if (!walk.certified(walk.name("forward", layer.label + ".y"))) return nullptr;
  if (!walk.certified(walk.name("forward", "in." + layer.label + ".x"))) return nullptr;
  return walk.tap("forward", layer.label + ".y");
}

/// The branch of every element of relu: certain where the interval decides, else the subject's own. None where an open
/// one cannot be taken over; the rule then bounds both branches.
void decide(Walk& walk, std::size_t i, int first, int last) {
  const LayerView& layer = walk.layers[i];
  std::map<std::pair<int, std::size_t>, oracle::Decisions> decided;
  DecisionCount count;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const auto x = layer_input(walk, i, 0, "forward").read();
    oracle::Matrix<double> active(x->v.rows(), x->v.cols());
    count.all += static_cast<std::uint64_t>(x->v.size());
    const Tensor* taken = nullptr;
    for (Eigen::Index at = 0; at < x->v.size(); ++at) {
      const auto v = static_cast<double>(x->v.data()[at]);
      const double e = x->e.data()[at];
      active.data()[at] = v > e ? 1 : 0;
      if (v > e || v + e <= 0 || (std::isnan(v) && e == 0)) continue;
      if (taken == nullptr) taken = certified_output(walk, layer);
      if (taken == nullptr) {
        walk.micro_batch = -1;
        return;
      }
      active.data()[at] = taken->value(static_cast<std::size_t>(at)) > 0 ? 1 : 0;
      ++count.adopted;
    }
    decided[{walk.micro_batch, i}] = {std::move(active)};
  }
  walk.micro_batch = -1;
  walk.own_of_group.add(count);
  if (walk.of_group) walk.of_group->add(count);
  walk.decisions.merge(decided);
}

void forward_alone(Walk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  const Value x = layer_input(walk, i, 0, "forward");
  const OtherInputs others = other_inputs(walk, i, "forward");
  LayerInputs inputs = layer_inputs(walk, layer, "forward");
  if (pools(walk.c, layer)) walk_step_statistics(walk, layer, x, inputs);
  if (!x.known() || !others.complete || !inputs.complete || !finds_rows(layer, x, inputs)) return;
  const auto decided = walk.decisions.find({walk.micro_batch, i});
  const BoundPass pass{*layer.layer,
                       walk.read(layer, inputs),
                       {walk.rows(walk.micro_batch)},
                       walk.declared,
                       decided == walk.decisions.end() ? oracle::Decisions{} : decided->second,
                       true,
                       others.pointers()};
  const oracle::BoundRule& rule = oracle::bound_rule(layer.layer->kind);
  const auto whole = is_fused_head(walk, i) ? oracle::head_forward : rule.forward;
  const Evaluation::Stretches some_rows = [&](const oracle::Declared& declared, const std::string& output,
                                              Eigen::Index first, Eigen::Index rows) {
    return rule.output_rows(pass.asked(declared), output, *Walk::read(layer, x), {}, first, rows);
  };
  Evaluation forward(
      walk.declared,
      [&](const oracle::Declared& declared) { return named(whole(pass.asked(declared), *Walk::read(layer, x))); },
      rule.output_rows == nullptr ? Evaluation::Stretches() : some_rows);
  const Bits written{[&] { return oracle::predicted_y(pass, x.floats(), tapped_statistics(walk, layer)); }};
  const Bits ordered{[&] { return ordered_output(walk, x, inputs); }, FailureClass::order};
  const Bits by_bound;  // rows that are looked up have no error: their bits are the bound
  const Bits& y = layer.layer->kind == kinds::linear ? ordered : layer.reads_tokens ? by_bound : written;
  walk.output("forward", layer.label + ".y", {forward, "y"}, {}, y);
  hold_statistics(walk, layer, forward, pass);
}

/// A layer with window statistics: all micro-batches of the group at once.
void forward_together(Walk& walk, std::size_t i, int first, int last) {
  const LayerView& layer = walk.layers[i];
  std::vector<Value> parts;
  LayerInputs inputs;
  bool complete = true;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    parts.push_back(layer_input(walk, i, 0, "forward"));
    inputs = layer_inputs(walk, layer, "forward");
    complete = complete && parts.back().known() && inputs.complete;
  }
  walk.micro_batch = -1;
  if (!complete) return;
  const BoundPass pass{*layer.layer, walk.read(layer, inputs), {}, walk.declared, {}};
  Evaluation forward(walk.declared, [&](const oracle::Declared& declared) {
    return named(oracle::bound_rule(layer.layer->kind).forward(pass.asked(declared), stacked(parts)));
  });
  const auto hold_rows = [&] {
    const oracle::Statistics shared = walk.is_local() ? tapped_statistics(walk, layer) : oracle::Statistics{};
    Eigen::Index row = 0;
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
      const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
      const Value& x = parts[static_cast<std::size_t>(walk.micro_batch - first)];
      const Bits y{[&] { return oracle::predicted_y(pass, x.floats(), shared); }};
      walk.output("forward", layer.label + ".y", {forward, "y", row, count}, {}, y);
      row += count;
    }
    walk.micro_batch = -1;
  };
  if (!walk.is_local()) hold_rows();
  hold_statistics(walk, layer, forward, pass);
  if (walk.is_local()) hold_rows();
}

/// The running statistics of the micro-batches [first, last), behind a layer's statistics.
void running_stats_of(Walk& walk, const LayerView& layer, int first, int last) {
  std::int64_t together = 0;
  for (int k = first; k < last; ++k) together += walk.rows(k);
  if (layer.window_statistics) walk_running_update(walk, layer, together);
  if (!layer.batch_statistics) return;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const auto window = static_cast<std::size_t>(walk.window), step = static_cast<std::size_t>(walk.micro_batch);
    walk_running_update(walk, layer,
                        pools(walk.c, layer) ? rows_of_step(walk.c, window, step) : walk.rows(walk.micro_batch));
  }
  walk.micro_batch = -1;
}

/// What a layer reads of a weight: the stored copy, or, of ranks that share the parameters, what they put together.
Value copy_read(Walk& walk, const std::string& weight, const std::string& stage) {
  const bool gathered = shards_parameters(walk.c) && std::ranges::count(walk.parameters, weight) > 0;
  return gathered && !walk.passes_over("all_gather", weight)
             ? walk.left("all_gather", (stage == StageName::backward ? "again." : "") + weight)
             : walk.cast_copy(weight);
}

}  // namespace

Value layer_input(Walk& walk, std::size_t i, std::size_t input, const std::string& stage) {
  const LayerView& layer = walk.layers[i];
  const std::string tensor = "in." + layer.input_name(input);
  // What backward reads is what forward read, where that was tapped.
  const Value producer = stage == StageName::forward ? received(walk, i, false) : walk.left("forward", tensor);
  const Value x = walk.input(stage, tensor, producer.known() ? producer : output_read(walk, layer.inputs[input]));
  return layer.reads_tokens ? walk.as_column(x) : x;
}

oracle::Statistics tapped_statistics(const Walk& walk, const LayerView& layer) {
  const bool pooled = pools(walk.c, layer);
  const std::vector<std::string> tapped =
      pooled ? std::vector<std::string>{"mean", "var", "rstd"} : statistics_of(walk, layer);
  const auto read = [&](const char* statistic) {
    if (std::ranges::count(tapped, statistic) == 0) return oracle::Matrix<float>();
    return walk
        .left(pooled ? "sync_statistics" : "forward", layer.label + "." + statistic,
              layer.window_statistics ? -1 : walk.micro_batch)
        .floats();
  };
  return {read("mean"), read("var"), read("rstd")};
}

OtherInputs other_inputs(Walk& walk, std::size_t i, const std::string& stage) {
  OtherInputs others;
  for (std::size_t j = 1; j < walk.layers[i].inputs.size(); ++j) {
    const Value x = layer_input(walk, i, j, stage);
    others.complete = others.complete && x.known();
    if (x.known()) others.read.push_back(Walk::read(walk.layers[i], x));
  }
  return others;
}

Value output_read(Walk& walk, LayerInput from) {
  if (from == model_input) return walk.rows_of_case(input_tensor(walk.c.model), walk.micro_batch);
  return walk.left("forward", walk.layers[static_cast<std::size_t>(from)].label + ".y");
}

LayerInputs layer_inputs(Walk& walk, const LayerView& layer, const std::string& stage) {
  LayerInputs inputs;
  for (const std::string& name : layer.weights()) {
    const std::string full = layer.full_name(name);
    inputs.add(name, walk.input(stage, "in." + full, copy_read(walk, full, stage)));
  }
  const bool forward = stage == StageName::forward;  // backward reads mask and running values again, untapped
  const auto more = [&](const std::string& name, const Value& producer) {
    inputs.add(name, forward ? walk.input(stage, "in." + layer.label + "." + name, producer) : producer);
  };
  if (layer.frozen) more("running_mean", walk.state.running_mean[layer.label]);
  if (layer.frozen) more("running_var", walk.state.running_var[layer.label]);
  if (layer.mask) more("mask", walk.mask_of(layer, walk.micro_batch));
  if (layer.reads_sequences) inputs.add("places", walk.rows_of_case("places", walk.micro_batch));
  if (layer.reads_positions)
    inputs.add("positions",
               walk.as_column(walk.input(stage, "in.positions", walk.rows_of_case("positions", walk.micro_batch))));
  return inputs;
}

bool finds_rows(const LayerView& layer, const Value& x, const LayerInputs& inputs) {
  const Tensor* index = layer.looks_up ? (layer.reads_tokens ? x : inputs.tensors.at("positions")).bits() : nullptr;
  if (index == nullptr) return true;
  const std::int64_t end = inputs.tensors.at("weight").bits()->shape.front();
  for (std::size_t i = 0; i < index->elements(); ++i)
    if (index->integer(i) < 0 || index->integer(i) >= end) return false;
  return true;
}

bool is_fused_head(const Walk& walk, std::size_t i) {
  return !walk.is_local() && i + 1 == walk.layers.size() && walk.layers[i].layer->kind == kinds::linear &&
         walk.c.model.loss.kind == kinds::cross_entropy && oracle::fuses_head_and_loss(walk.declared);
}

void walk_forward_of(Walk& walk, std::size_t i, int first, int last) {
  if (!walk.is_local() && walk.layers[i].layer->kind == kinds::relu) decide(walk, i, first, last);
  if (walk.layers[i].window_statistics) forward_together(walk, i, first, last);
  for (walk.micro_batch = first; walk.micro_batch < last && !walk.layers[i].window_statistics; ++walk.micro_batch)
    forward_alone(walk, i);
  walk.micro_batch = -1;
  // Branches decided after this layer do not enter its statistics.
  if (!walk.is_local() && !pools(walk.c, walk.layers[i])) running_stats_of(walk, walk.layers[i], first, last);
}

void walk_forward(Walk& walk, int first, int last) {
  if (is_opaque(walk.c.model)) return;  // its outputs are given
  for (std::size_t i = 0; i < walk.layers.size(); ++i) walk_forward_of(walk, i, first, last);
}

void walk_running_update(Walk& walk, const LayerView& layer, std::int64_t rows) {
  const auto moved = [&](const std::string& running, const std::string& batch, Value& state) {
    const std::string stage = "running_stats";
    const Value old = walk.input(stage, "in." + layer.label + "." + running, state);
    const Value now =
        walk.input(stage, "in." + layer.label + "." + batch,
                   walk.left(pools(walk.c, layer) ? "sync_statistics" : "forward", layer.label + "." + batch));
    state = walk.left(stage, layer.label + "." + running);
    if (!old.known() || !now.known()) return;
    const auto bound = [&](const oracle::Declared& declared) {
      return batch == "mean" ? oracle::running_mean(declared, *layer.layer, *old.read(), *now.read())
                             : oracle::running_var(declared, *layer.layer, *old.read(), *now.read(), rows);
    };
    const Bits bits{[&] {
      return batch == "mean"
                 ? oracle::predicted_running_mean(walk.declared, *layer.layer, old.floats(), now.floats())
                 : oracle::predicted_running_var(walk.declared, *layer.layer, old.floats(), now.floats(), rows);
    }};
    state = walk.output(stage, layer.label + "." + running, bound, {}, bits);
  };
  moved("running_mean", "mean", walk.state.running_mean[layer.label]);
  moved("running_var", "var", walk.state.running_var[layer.label]);
}

void walk_running_stats(Walk& walk, int first, int last) {
  for (const LayerView& layer : walk.layers) running_stats_of(walk, layer, first, last);
}

}  // namespace tally
