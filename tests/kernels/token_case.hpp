// Cases over tokens, small enough to be worked on paper: a table of one column, and no layer behind it unless one is
// said.
#pragma once

#include <utility>
#include <vector>

#include "tests/kernels/small_case.hpp"

namespace tally {

inline Tensor whole_numbers(const std::vector<std::int64_t>& numbers) {
  Tensor tensor(Dtype::i64, {std::ssize(numbers)});
  for (std::size_t i = 0; i < numbers.size(); ++i) tensor.set_bits(i, static_cast<std::uint64_t>(numbers[i]));
  return tensor;
}

inline Tensor one_column(const std::vector<double>& numbers, Dtype dtype = Dtype::fp32) {
  Tensor tensor(dtype, {std::ssize(numbers), 1});
  for (std::size_t i = 0; i < numbers.size(); ++i) tensor.set(i, numbers[i]);
  return tensor;
}

/// One window of one micro-batch of three tokens, 2, 0 and 2 of a vocabulary of 3, under mse, whose gradients are added
/// up and not divided. The table holds 1, 2 and 4, so that y is 4, 1 and 4; held against 1, 3 and 5.
inline Case looked_up_case(Dtype storage = Dtype::fp32) {
  Case c = small_case();
  c.name = "three tokens";
  c.model.tokens = true;
  c.model.input = 3;
  c.model.layers = {layer_of("embedding", "wte", {{"width", std::int64_t{1}}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows = {{3}};
  c.normalisation = Normalisation::sum;
  c.precision.storage = storage;
  c.tensors = {{"tokens", whole_numbers({2, 0, 2})},
               {"target", one_column({1, 3, 5}, storage)},
               {"wte.weight", one_column({1, 2, 4})}};
  return c;
}

/// The same in two sequences, of two rows and of one, with the positions' 1 and -1 on top: y is 5, 0 and 5; held against
/// 4, 1 and 2.
inline Case placed_case(Dtype storage = Dtype::fp32) {
  Case c = looked_up_case(storage);
  c.name = "three tokens in two sequences";
  c.model.layers.push_back(layer_of("position_embedding", "wpe", {{"length", std::int64_t{2}}}));
  c.sequences = {2, 1};
  c.tensors["target"] = one_column({4, 1, 2}, storage);
  c.tensors["wpe.weight"] = one_column({1, -1});
  return c;
}

/// The first case with a product by the table on top: h is 4, 1 and 4, y = h Wᵀ. Held against y less 3 in one place of
/// each row, so that dy, 2/3 of that, is 2 at class 0, 2 at class 1 and -2 at class 2.
inline Case tied_case(Dtype storage = Dtype::fp32) {
  Case c = looked_up_case(storage);
  c.name = "tied weight";
  c.model.layers.push_back(layer_of("linear", "head", {{"out", std::int64_t{3}}, {"bias", false}}));
  c.model.layers.back().tied = "wte";
  Tensor target(storage, {3, 3});
  const double numbers[] = {1, 8, 16, 1, -1, 4, 4, 8, 19};
  for (std::size_t i = 0; i < 9; ++i) target.set(i, numbers[i]);
  c.tensors["target"] = target;
  return c;
}

/// Under cross-entropy over two classes, whose logits are all 0 as the last layer's weights are: p is 1/2. Labels are
/// shifted: of the two sequences, of two rows and of one, row 0 alone is scored, by label 1.
inline Case shifted_case() {
  Case c = looked_up_case();
  c.name = "shifted labels";
  c.model.layers.push_back(layer_of("linear", "head", {{"out", std::int64_t{2}}, {"bias", false}}));
  c.model.loss = choice_of("loss", "cross_entropy", {{"shift", true}});
  c.normalisation = Normalisation::window_items;
  c.sequences = {2, 1};
  c.tensors["target"] = whole_numbers({0, 1, 1});
  c.tensors["head.weight"] = Tensor(Dtype::fp32, {2, 1});
  return c;
}

}  // namespace tally
