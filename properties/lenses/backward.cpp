// Backward, and the gradients of what several layers read.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/table_rows.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::BoundPass;
using oracle::Expected;

struct LayerGradients {
  Value x, dy;
  OtherInputs others;
  LayerInputs inputs;
  bool complete() const { return x.known() && dy.known() && others.complete && inputs.complete; }
  /// What rows were looked up by, of a layer that does.
  const Tensor& index(const LayerView& layer) const {
    return *(layer.reads_tokens ? x : inputs.tensors.at("positions")).bits();
  }
};

/// What backward reads again of forward's outputs, and what it worked out of every row: the bounds of its gradients are
/// held to these bits. Where they are not tapped they are held to what they may be.
void add_kept(Walk& walk, const LayerView& layer, LayerInputs& inputs) {
  if (!walk.is_local()) return;
  for (const std::string& kept : layer.contract->kept_for_backward) {
    const std::string name = "in." + layer.label + "." + kept;
    const Value left = walk.left("forward", layer.label + "." + kept);
    if (!left.known() && walk.passes_over("backward", name)) continue;
    if (const Value read = walk.input("backward", name, left); read.known()) inputs.tensors[kept] = read;
  }
  for (const RowStatistic& each : layer.contract->backward_statistics)
    if (const Value left = walk.left("backward", layer.label + "." + each.name); left.known())
      inputs.tensors[each.name] = left;
}

LayerGradients backward_inputs(Walk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  const StageTensor given = gradient_of_output(walk.layers, layer);
  LayerGradients read;
  const Value came = received(walk, i, true);
  const Value dy = came.known() ? came : walk.left(given.stage, given.tensor);
  read.dy = walk.input("backward", "in.d." + layer.label + ".y", dy);
  read.x = layer_input(walk, i, 0, "backward");
  read.others = other_inputs(walk, i, "backward");
  read.inputs = layer_inputs(walk, layer, "backward");
  add_kept(walk, layer, read.inputs);
  return read;
}

/// The row of a table that takes no gradient.
std::int64_t row_left_out(const LayerView& layer) {
  return layer.reads_tokens ? layer.layer->integer("padding_index") : -1;
}

/// The bits of a table's gradient in the order of additions that its kernel claims.
Bits bits_of_table(const Walk& walk, const LayerView& layer, const LayerGradients& read) {
  const auto predict = [&walk, &layer, read]() -> oracle::Prediction {
    return oracle::predicted_table_gradient(walk.declared, read.inputs.tensors.at("weight").bits()->shape.front(),
                                            read.index(layer), read.dy.floats(), row_left_out(layer));
  };
  return {predict, FailureClass::order};
}

/// The bits of a linear layer's gradients in the order of additions that its kernels claim; other bits inside the bound
/// are another order's.
Bits bits_of_order(const Walk& walk, const LayerView& layer, const LayerGradients& read, const std::string& name) {
  if (!walk.is_local()) return {};
  if (layer.looks_up) return bits_of_table(walk, layer, read);
  if (layer.layer->kind != kinds::linear) return {};
  const auto predict = [&walk, read, name]() -> oracle::Prediction {
    const oracle::Matrix<float> dy = read.dy.floats();
    if (name == "bias") return oracle::ordered_bias_gradient(walk.declared, dy);
    if (!oracle::orders_products(walk.declared)) return {};
    if (name == "weight") return oracle::ordered_product(walk.declared, dy.transpose(), read.x.floats());
    return oracle::ordered_product(walk.declared, dy, read.inputs.tensors.at("weight").floats());
  };
  return {predict, FailureClass::order};
}

void hold_parameters(Walk& walk, const LayerView& layer, Evaluation& backward, const LayerGradients* read = nullptr) {
  const bool penalised = walk.deviation != nullptr && walk.deviation->penalty && !layer.shares_weight;
  for (const std::string& name : layer.parameters) {
    const std::string parameter = layer.full_name(name), gradient = layer.gradient_name(name);
    if (penalised)
      walk.output("backward", gradient, *with_penalty(walk, parameter, Value(backward.at(name))).read());
    else
      walk.output("backward", gradient, {backward, name}, walk.directions(parameter),
                  read == nullptr ? Bits{} : bits_of_order(walk, layer, *read, name));
  }
}

/// Whether a trainable layer comes before this input: else no stage needs its gradient.
bool goes_on(const Walk& walk, LayerInput from) {
  return from != model_input && walk.layers[static_cast<std::size_t>(from)].has_gradient;
}

oracle::Decisions decisions_of(const Walk& walk, int micro_batch, std::size_t i) {
  const auto decided = walk.decisions.find({micro_batch, i});
  return decided == walk.decisions.end() ? oracle::Decisions{} : decided->second;
}

void backward_alone(Walk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  LayerGradients read = backward_inputs(walk, i);
  if (pools(walk.c, layer)) walk_step_gradients(walk, layer, read.x, read.dy, read.inputs);
  if (!read.complete() || !finds_rows(layer, read.x, read.inputs)) return;
  const BoundPass pass{*layer.layer,          walk.read(layer, read.inputs),           {walk.rows(walk.micro_batch)},
                       walk.declared,         decisions_of(walk, walk.micro_batch, i), layer.gives_dx,
                       read.others.pointers()};
  const oracle::BoundRule& rule = oracle::bound_rule(layer.layer->kind);
  const auto whole = is_fused_head(walk, i) ? oracle::head_backward : rule.backward;
  const Evaluation::Stretches some_rows = [&](const oracle::Declared& declared, const std::string& output,
                                              Eigen::Index first, Eigen::Index rows) {
    return rule.output_rows(pass.asked(declared), output, *Walk::read(layer, read.x), *Walk::read(layer, read.dy),
                            first, rows);
  };
  Evaluation backward(
      walk.declared,
      [&](const oracle::Declared& declared) {
        return named(whole(pass.asked(declared), *Walk::read(layer, read.x), *Walk::read(layer, read.dy)));
      },
      rule.output_rows == nullptr ? Evaluation::Stretches() : some_rows);
  const Bits written{[&] { return oracle::predicted_dx(pass, tapped_statistics(walk, layer), read.dy.floats()); }};
  const Bits dx = layer.layer->kind == kinds::linear ? bits_of_order(walk, layer, read, "x") : written;
  for (const RowStatistic& each : layer.contract->backward_statistics)
    if (!walk.passes_over("backward", layer.label + "." + each.name))
      walk.output("backward", layer.label + "." + each.name, {backward, each.name});
  for (std::size_t j = 0; j < layer.inputs.size() && layer.gives_dx; ++j) {
    if (!goes_on(walk, layer.inputs[j]) && walk.passes_over("backward", "d." + layer.input_name(j))) continue;
    walk.output("backward", "d." + layer.input_name(j), {backward, LayerView::gradient_of_input(j)}, {},
                j == 0 ? dx : Bits{});
  }
  hold_parameters(walk, layer, backward, &read);
}

/// A layer with window statistics. The gradient flows through statistics that all rows share; a micro-batch's own
/// parameter gradients are those of its own rows of dy.
void backward_together(Walk& walk, std::size_t i, int first, int last) {
  const LayerView& layer = walk.layers[i];
  std::vector<Value> x, dy;
  LayerGradients read;
  bool complete = true;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    read = backward_inputs(walk, i);
    complete = complete && read.complete();
    x.push_back(read.x);
    dy.push_back(read.dy);
  }
  walk.micro_batch = -1;
  if (!complete) return;
  const auto expected = [&](const oracle::Declared& declared, Eigen::Index first_row, Eigen::Index count) {
    const BoundPass pass{*layer.layer,
                         walk.read(layer, read.inputs),
                         count < 0 ? oracle::Cut{} : oracle::Cut{count},
                         declared,
                         {},
                         count < 0 || walk.is_local() || layer.gives_dx};
    const Expected all_dy = stacked(dy);
    return named(oracle::bound_rule(layer.layer->kind)
                     .backward(pass, stacked(x), count < 0 ? all_dy : only_rows(all_dy, first_row, count)));
  };
  Evaluation whole(walk.declared, [&](const oracle::Declared& declared) { return expected(declared, 0, -1); });
  Eigen::Index row = 0;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    if (layer.gives_dx) walk.output("backward", "d." + layer.label + ".x", {whole, "dx", row, count});
    Evaluation own(walk.declared, [&](const oracle::Declared& declared) { return expected(declared, row, count); });
    hold_parameters(walk, layer, own);
    row += count;
  }
  walk.micro_batch = -1;
}

/// `tensor` is what the tensors that were given come to, (add.3); nothing is asked where one of them is missing.
void walk_sum(Walk& walk, const std::string& tensor, const std::vector<Value>& given) {
  if (!std::ranges::all_of(given, &Value::known)) return;
  const auto sum = [&](const oracle::Declared& declared) {
    std::vector<std::shared_ptr<const Expected>> read;
    std::vector<const Expected*> addends;
    for (const Value& each : given) addends.push_back(read.emplace_back(each.read()).get());
    return oracle::added_in_turn(declared, "gradient.add", addends);
  };
  const Bits bits{[&] {
    std::vector<oracle::Matrix<float>> addends;
    for (const Value& each : given) addends.push_back(each.floats());
    return oracle::predicted_in_turn(walk.declared, "gradient.add", addends);
  }};
  walk.output("fork", tensor, sum, {}, bits);
}

/// The gradients of an output that several layers read.
void sum_of_readers(Walk& walk, const LayerView& layer, int first, int last) {
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    std::vector<Value> given;
    for (auto reader = layer.readers.rbegin(); reader != layer.readers.rend(); ++reader) {
      const StageTensor from = gradient_given_by(walk.layers, *reader);
      given.push_back(walk.input("fork", "in.d." + walk.layers[reader->layer].input_name(reader->input),
                                 walk.left(from.stage, from.tensor)));
    }
    walk_sum(walk, "d." + layer.label + ".y", given);
  }
  walk.micro_batch = -1;
}

}  // namespace

void walk_backward_of(Walk& walk, std::size_t i, int first, int last) {
  const LayerView& layer = walk.layers[i];
  if (!layer.has_gradient || layer.hands_on) return;
  if (layer.window_statistics) return backward_together(walk, i, first, last);
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) backward_alone(walk, i);
  walk.micro_batch = -1;
}

void walk_fork(Walk& walk, std::size_t i, int first, int last) {
  if (walk.layers[i].forked()) sum_of_readers(walk, walk.layers[i], first, last);
}

void walk_shared_parameters(Walk& walk, int first, int last) {
  for (const SharedParameter& shared : shared_parameters(walk.c.model)) {
    const std::string sum = "d." + shared.name;
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
      std::vector<Value> given;
      for (auto user = shared.users.rbegin(); user != shared.users.rend(); ++user) {
        const std::string gradient = walk.layers[*user].gradient_name("weight");
        given.push_back(walk.input("fork", "in." + gradient, walk.left("backward", gradient)));
      }
      walk_sum(walk, sum, given);
      if (walk.deviation != nullptr && walk.deviation->penalty)
        walk.put("fork", sum, with_penalty(walk, shared.name, walk.left("fork", sum)));
    }
  }
  walk.micro_batch = -1;
}

void walk_backward(Walk& walk, int first, int last) {
  if (is_opaque(walk.c.model)) return;  // its gradients are given
  for (std::size_t i = walk.layers.size(); i-- > 0;) {
    walk_fork(walk, i, first, last);
    walk_backward_of(walk, i, first, last);
  }
  walk_shared_parameters(walk, first, last);
}

}  // namespace tally
