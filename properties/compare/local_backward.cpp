// Loss and backward.
#include "oracle/case/kinds.hpp"
#include "oracle/tolerance/ordered_sum.hpp"
#include "oracle/tolerance/table_rows.hpp"
#include "properties/compare/class_targets.hpp"
#include "properties/compare/folded_factor.hpp"
#include "properties/compare/item_weights.hpp"
#include "properties/compare/local_step.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/stack.hpp"

namespace tally {
namespace {

using oracle::Expected;

struct LayerGradients {
  const Tensor *x = nullptr, *dy = nullptr;
  OtherInputs others;
  LayerInputs inputs;
  bool complete() const { return x != nullptr && dy != nullptr && others.complete && inputs.complete; }
  /// What rows were looked up by, of a layer that does.
  const Tensor& index(const LayerView& layer) const {
    return layer.reads_tokens ? *x : *inputs.tensors.at("positions");
  }
};

/// What backward reads again of forward's outputs, and what it worked out of every row: the bounds of its gradients are
/// held to these bits. Where they are not tapped they are held to what they may be.
void add_kept(LocalWalk& walk, const LayerView& layer, LayerInputs& inputs) {
  for (const std::string& kept : layer.contract->kept_for_backward) {
    const std::string name = "in." + layer.label + "." + kept;
    const Tensor* left = walk.tap("forward", layer.label + "." + kept);
    if (left == nullptr && walk.passes_over("backward", name)) continue;
    if (const Tensor* read = walk.handed("backward", name, left)) inputs.tensors[kept] = read;
  }
  for (const RowStatistic& each : layer.contract->backward_statistics)
    if (const Tensor* left = walk.tap("backward", layer.label + "." + each.name)) inputs.tensors[each.name] = left;
}

LayerGradients backward_inputs(LocalWalk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  const StageTensor given = gradient_of_output(walk.layers, layer);
  LayerGradients read;
  const Tensor* came = received(walk, i, true);
  const Tensor* dy = came != nullptr ? came : walk.tap(given.stage, given.tensor);
  read.dy = walk.handed("backward", "in.d." + layer.label + ".y", dy);
  const std::string input = "in." + layer.input_name(0);
  const Tensor* x = walk.tap("forward", input);
  if (x == nullptr) x = output_read(walk, layer.inputs.front());
  read.x = walk.handed("backward", input, x);
  if (layer.reads_tokens) read.x = walk.as_column(read.x);
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
Bits bits_of_table(const LocalWalk& walk, const LayerView& layer, const LayerGradients& read) {
  const auto predict = [&walk, &layer, read]() -> oracle::Prediction {
    return oracle::predicted_table_gradient(walk.declared, read.inputs.tensors.at("weight")->shape.front(),
                                            read.index(layer), oracle::floats_of(*read.dy), row_left_out(layer));
  };
  return {predict, FailureClass::order};
}

/// The bits of a linear layer's gradients in the order of additions that its kernels claim; other bits inside the bound
/// are another order's.
Bits bits_of_order(const LocalWalk& walk, const LayerView& layer, const LayerGradients& read, const std::string& name) {
  if (layer.looks_up) return bits_of_table(walk, layer, read);
  if (layer.layer->kind != "linear") return {};
  const auto predict = [&walk, read, name]() -> oracle::Prediction {
    const oracle::Matrix<float> dy = oracle::floats_of(*read.dy);
    if (name == "bias") return oracle::ordered_bias_gradient(walk.declared, dy);
    if (!oracle::orders_products(walk.declared)) return {};
    if (name == "weight") return oracle::ordered_product(walk.declared, dy.transpose(), oracle::floats_of(*read.x));
    return oracle::ordered_product(walk.declared, dy, oracle::floats_of(*read.inputs.tensors.at("weight")));
  };
  return {predict, FailureClass::order};
}

void hold_parameters(LocalWalk& walk, const LayerView& layer, Evaluation& backward,
                     const LayerGradients* read = nullptr) {
  for (const std::string& name : layer.parameters) {
    const std::string parameter = layer.full_name(name);
    walk.check_output("backward", layer.gradient_name(name), {backward, name}, walk.directions(parameter),
                      read == nullptr ? Bits{} : bits_of_order(walk, layer, *read, name));
  }
}

/// Whether anything that trains comes before what is read here: else its gradient is nobody's.
bool goes_on(const LocalWalk& walk, LayerInput from) {
  return from != model_input && walk.layers[static_cast<std::size_t>(from)].has_gradient;
}

void check_backward(LocalWalk& walk, std::size_t i) {
  const LayerView& layer = walk.layers[i];
  LayerGradients read = backward_inputs(walk, i);
  if (pools(walk.c, layer)) check_step_gradients(walk, layer, read.x, read.dy, read.inputs);
  if (!read.complete() || !finds_rows(layer, *read.x, read.inputs)) return;
  const oracle::BoundPass pass{
      *layer.layer,   walk.read(layer, read.inputs), {walk.rows(walk.micro_batch)}, walk.declared, {},
      layer.gives_dx, read.others.pointers()};
  const oracle::BoundRule& rule = oracle::bound_rule(layer.layer->kind);
  const Evaluation::Stretches some_rows = [&](const std::string& output, Eigen::Index first, Eigen::Index rows) {
    return rule.output_rows(pass, output, walk.read(layer, *read.x), walk.read(layer, *read.dy), first, rows);
  };
  Evaluation backward([&] { return named(rule.backward(pass, walk.read(layer, *read.x), walk.read(layer, *read.dy))); },
                      rule.output_rows == nullptr ? Evaluation::Stretches() : some_rows);
  const Bits written{
      [&] { return oracle::predicted_dx(pass, tapped_statistics(walk, layer), oracle::floats_of(*read.dy)); }};
  const Bits dx = layer.layer->kind == "linear" ? bits_of_order(walk, layer, read, "x") : written;
  for (const RowStatistic& each : layer.contract->backward_statistics)
    if (!walk.passes_over("backward", layer.label + "." + each.name))
      walk.check_output("backward", layer.label + "." + each.name, {backward, each.name});
  for (std::size_t j = 0; j < layer.inputs.size() && layer.gives_dx; ++j) {
    if (!goes_on(walk, layer.inputs[j]) && walk.passes_over("backward", "d." + layer.input_name(j))) continue;
    walk.check_output("backward", "d." + layer.input_name(j), {backward, LayerView::gradient_of_input(j)}, {},
                      j == 0 ? dx : Bits{});
  }
  hold_parameters(walk, layer, backward, &read);
}

/// A layer with window statistics. The gradient flows through statistics that all rows share; a micro-batch's own
/// parameter gradients are those of its own rows of dy.
void check_backward_together(LocalWalk& walk, std::size_t i, int first, int last) {
  const LayerView& layer = walk.layers[i];
  std::vector<const Tensor*> x, dy;
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
  const auto expected = [&](Eigen::Index first_row, Eigen::Index count) {
    const oracle::ExpectedTensors& tensors = walk.read(layer, read.inputs);
    const oracle::BoundPass pass{
        *layer.layer, tensors, count < 0 ? oracle::Cut{} : oracle::Cut{count}, walk.declared, {}};
    const Expected all_dy = stacked(dy);
    return named(oracle::bound_rule(layer.layer->kind)
                     .backward(pass, stacked(x), count < 0 ? all_dy : only_rows(all_dy, first_row, count)));
  };
  Evaluation whole([&] { return expected(0, -1); });
  Eigen::Index row = 0;
  for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) {
    const auto count = static_cast<Eigen::Index>(walk.rows(walk.micro_batch));
    if (layer.gives_dx) walk.check_output("backward", "d." + layer.label + ".x", {whole, "dx", row, count});
    Evaluation own([&] { return expected(row, count); });
    hold_parameters(walk, layer, own);
    row += count;
  }
  walk.micro_batch = -1;
}

}  // namespace

void check_loss(LocalWalk& walk) {
  const int k = walk.micro_batch;
  const Tensor* output = walk.layers.empty() ? walk.rows_of_case(input_tensor(walk.c.model), k)
                                             : walk.tap("forward", walk.layers.back().label + ".y");
  const bool given = is_opaque(walk.c.model);
  const bool stated = !is_opaque(walk.c.model.loss);
  const Tensor* y = walk.handed("loss", "in.y", output);
  if (given && y == nullptr) y = output;
  const Tensor* labels = stated ? walk.rows_of_case("target", k) : nullptr;
  const Tensor* target = walk.handed("loss", "in.target", labels);
  if (given && target == nullptr) target = labels;
  const auto window = static_cast<std::size_t>(walk.window);
  const Expected wanted =
      oracle::predicted_factor(walk.declared, walk.c, window, static_cast<std::size_t>(k), walk.state.scale.scale);
  const Tensor* c = walk.check_output("loss", "in.factor", wanted);
  if (!stated) return;
  if (y == nullptr || target == nullptr || (c == nullptr && !given)) return;
  const auto& loss = walk.c.model.loss;
  if (!are_targets_of(loss, *target, static_cast<std::size_t>(y->shape.back()))) return;  // handed on wrong
  const std::int64_t rows = walk.rows(k), first = first_row(walk.c, window, static_cast<std::size_t>(k));
  Evaluation expected([&] {
    const Expected read = c == nullptr ? folded(wanted) : oracle::as_read(*c);
    const Expected factor{oracle::Matrix<long double>::Constant(1, rows, read.v(0, 0)),
                          oracle::Matrix<double>::Constant(1, rows, read.e(0, 0))};
    auto both = oracle::loss_bound_rule(loss.kind).evaluate(loss, walk.declared, oracle::as_read(*y),
                                                            oracle::as_read(*target).v,
                                                            item_weights(walk.c, first, rows), factor);
    if (c == nullptr) both.dy = of_folded(std::move(both.dy), read, rows);
    return named(std::move(both));
  });
  if (!walk.passes_over("loss", "loss")) walk.check_output("loss", "loss", {expected, "loss"});
  const Bits gradient{[&]() -> oracle::Prediction {
    if (loss.kind != "mse" || c == nullptr) return {};
    return oracle::predicted_mse_gradient(walk.declared, oracle::floats_of(*y), oracle::floats_of(*target),
                                          item_weights(walk.c, first, rows), static_cast<float>(c->value(0)));
  }};
  walk.check_output("loss", "d.y", {expected, "dy"}, {}, gradient);
}

void check_backward(LocalWalk& walk, int first, int last) {
  if (is_opaque(walk.c.model)) return;  // its gradients are given
  for (std::size_t i = walk.layers.size(); i-- > 0;) {
    const LayerView& layer = walk.layers[i];
    if (layer.forked()) check_fork(walk, layer, first, last);
    if (!layer.has_gradient || layer.hands_on) continue;
    if (layer.window_statistics) {
      check_backward_together(walk, i, first, last);
      continue;
    }
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) check_backward(walk, i);
    walk.micro_batch = -1;
  }
  check_shared_parameters(walk, first, last);
}

}  // namespace tally
