// A model small enough to differentiate numerically: linear, batch_norm, gelu, dropout, linear.
#pragma once

#include <string>

#include "oracle/case/case.hpp"
#include "tests/oracle/real/drawn.hpp"

namespace tally::oracle {

inline Tensor stored(const Matrix<double>& values, std::vector<std::int64_t> shape, Dtype dtype = Dtype::fp32) {
  Tensor tensor(dtype, std::move(shape));
  for (Eigen::Index i = 0; i < values.size(); ++i) tensor.set(static_cast<std::size_t>(i), values(i));
  return tensor;
}

inline Tensor stored(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  return stored(drawn(rows, columns, seed), {rows, columns});
}

inline Tensor stored(std::int64_t size, std::uint64_t seed) { return stored(drawn(1, size, seed), {size}); }

inline Recipe plain_recipe() {
  return {.optimizer = {"sgd", {{"momentum", Decimal{"0"}}, {"dampening", Decimal{"0"}}, {"nesterov", false}}},
          .learning_rate = {"constant", {{"base", Decimal{"0.1"}}}},
          .weight_decay = {"none", {}},
          .clip = {"none", {}},
          .loss_scale = {"none", {}}};
}

/// Three classes, the row before the last of the first window ignored. `statistics` is batch_norm's.
inline Case small_case(std::vector<std::vector<std::int64_t>> windows, const std::string& statistics,
                       Normalisation normalisation = Normalisation::window_items) {
  std::int64_t rows = 0;
  for (const auto& window : windows)
    for (const std::int64_t size : window) rows += size;
  Case c;
  c.model.input = 3;
  c.model.layers = {
      {{"linear", {{"out", std::int64_t{4}}, {"bias", true}}}, "fc1"},
      {{"batch_norm",
        {{"eps", Decimal{"1e-5"}}, {"momentum", Decimal{"0.1"}}, {"affine", true}, {"statistics", statistics}}},
       "bn"},
      {{"gelu", {{"approximate", std::string("none")}}}, ""},
      {{"dropout", {{"p", Decimal{"0.25"}}}}, "drop"},
      {{"linear", {{"out", std::int64_t{3}}, {"bias", false}}}, "fc2"}};
  c.model.loss = {
      "cross_entropy",
      {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{"0.1"}}, {"weight", std::vector<Decimal>{}}}};
  c.windows = std::move(windows);
  c.normalisation = normalisation;
  c.recipe = plain_recipe();
  Matrix<double> target(1, rows), mask(rows, 4);
  for (Eigen::Index r = 0; r < rows; ++r) target(r) = r == 3 ? -100 : static_cast<double>((r * 2) % 3);
  for (Eigen::Index i = 0; i < mask.size(); ++i) mask(i) = i % 5 != 0 ? 1 : 0;
  c.tensors = {{"x", stored(rows, 3, 51)},
               {"target", stored(target, {rows}, Dtype::i64)},
               {"drop.mask", stored(mask, {rows, 4}, Dtype::u8)},
               {"fc1.weight", stored(4, 3, 52)},
               {"fc1.bias", stored(4, 53)},
               {"bn.weight", stored(4, 54)},
               {"bn.bias", stored(4, 55)},
               {"bn.running_mean", stored(4, 56)},
               {"bn.running_var", stored(drawn(1, 4, 57).cwiseAbs(), {4})},
               {"fc2.weight", stored(3, 4, 58)}};
  return c;
}

}  // namespace tally::oracle
