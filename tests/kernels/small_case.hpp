// Small cases for the tests of the training step, built in memory.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/rows.hpp"

namespace tally {

using Options = std::map<std::string, OptionValue>;

/// A fixed sequence of multiples of 1/16 in [-1, 1).
class Sequence {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(static_cast<std::int64_t>(state_ >> 59) - 16) / 16;
  }

 private:
  std::uint64_t state_ = 7;
};

inline std::int64_t rows_of(const Case& c) {
  std::int64_t rows = 0;
  for (const auto& window : c.windows) rows = std::accumulate(window.begin(), window.end(), rows);
  return rows;
}

inline double value_of(const Layer& layer, const LayerTensor& tensor, Sequence& sequence) {
  const bool norm = layer.kind == "batch_norm" || layer.kind == "layer_norm" || layer.kind == "rms_norm";
  if (tensor.role == Role::mask) return sequence.next() < 0 ? 0 : 1;
  if (tensor.name == "running_var" || (norm && tensor.name == "weight")) return 1 + sequence.next() / 2;
  return sequence.next();
}

inline void fill_layer(Case& c, const Layer& layer, std::int64_t features, Sequence& sequence) {
  for (const LayerTensor& tensor : tensors_of(layer)) {
    const std::vector<std::int64_t> shape = shape_in(c, tensor, layer, features);
    const Dtype dtype = tensor.role == Role::mask ? Dtype::u8 : c.precision.master;
    Tensor value(dtype, shape);
    for (std::size_t i = 0; i < value.elements(); ++i) value.set(i, value_of(layer, tensor, sequence));
    c.tensors[layer.name + "." + tensor.name] = value;
  }
}

/// A kind with its standard options and these instead.
inline Choice choice_of(const std::string& section, const std::string& kind, Options options = {}) {
  Choice choice{kind, std::move(options)};
  for (const Option& option : find_contract(section, kind)->options) {
    if (option.standard) choice.options.emplace(option.name, *option.standard);
  }
  return choice;
}

inline Layer layer_of(const std::string& kind, const std::string& name, Options options = {}) {
  return Layer{choice_of("layer", kind, std::move(options)), name};
}

/// Fills in the tensors of the model, x and the target by a fixed sequence of small dyadic numbers; every fourth class
/// target is ignored. Weights of norms are near 1, running variances positive.
inline void fill_tensors(Case& c) {
  Sequence sequence;
  const std::int64_t rows = rows_of(c);
  const bool tokens = c.model.tokens;
  Tensor& x = c.tensors[input_tensor(c.model)] =
      tokens ? Tensor(Dtype::i64, {rows}) : Tensor(c.precision.storage, {rows, c.model.input});
  for (std::size_t i = 0; i < x.elements(); ++i)
    x.set(i,
          tokens ? static_cast<double>(static_cast<int>((sequence.next() + 1) * 16) % c.model.input) : sequence.next());
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    fill_layer(c, c.model.layers[i], features_before(c.model, i), sequence);
  }
  const std::int64_t features = features_before(c.model, c.model.layers.size());
  const bool squares = c.model.loss.kind == "mse";
  Tensor target = squares ? Tensor(c.precision.storage, {rows, features}) : Tensor(Dtype::i64, {rows});
  for (std::size_t i = 0; i < target.elements(); ++i) {
    const double drawn = sequence.next();
    target.set(i, squares      ? drawn
                  : i % 4 == 3 ? -100
                               : static_cast<double>(static_cast<int>((drawn + 1) * 8) % features));
  }
  c.tensors["target"] = target;
}

/// linear 5 -> 4, relu, linear 4 -> 3 with cross-entropy, two windows [[2, 3], [1, 2]], SGD with rate 1/4, no extras.
inline Case small_case() {
  Case c;
  c.name = "small";
  c.model.input = 5;
  c.model.layers = {layer_of("linear", "fc1", {{"out", std::int64_t{4}}}), layer_of("relu", ""),
                    layer_of("linear", "fc2", {{"out", std::int64_t{3}}})};
  c.model.loss = choice_of("loss", "cross_entropy");
  c.windows = {{2, 3}, {1, 2}};
  c.recipe = {choice_of("optimizer", "sgd"), choice_of("learning_rate", "constant", {{"base", Decimal{"0.25"}}}),
              choice_of("weight_decay", "none"), choice_of("clip", "none"), choice_of("loss_scale", "none")};
  fill_tensors(c);
  return c;
}

/// Every kind of layer and every stage: dynamic scale, clip by norm, decoupled decay, Adam.
inline Case case_with_everything() {
  Case c = small_case();
  c.name = "everything";
  c.model.layers = {layer_of("linear", "fc1", {{"out", std::int64_t{6}}}),
                    layer_of("batch_norm", "bn", {{"statistics", std::string("micro_batch")}}),
                    layer_of("gelu", ""),
                    layer_of("dropout", "drop", {{"p", Decimal{"0.5"}}}),
                    layer_of("layer_norm", "ln"),
                    layer_of("tanh", ""),
                    layer_of("batch_norm", "frozen", {{"statistics", std::string("frozen")}}),
                    layer_of("sigmoid", ""),
                    layer_of("linear", "fc2", {{"out", std::int64_t{3}}})};
  c.windows = {{2, 3}, {4, 2}};
  c.recipe = {choice_of("optimizer", "adam"), choice_of("learning_rate", "constant", {{"base", Decimal{"0.25"}}}),
              choice_of("weight_decay", "decoupled", {{"lambda", Decimal{"0.5"}}}),
              choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.125"}}}),
              choice_of("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}})};
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

}  // namespace tally
