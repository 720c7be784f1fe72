// Cases of attention that are small enough to be worked on paper, and some that are not.
#pragma once

#include "tests/kernels/residual_case.hpp"
#include "tests/kernels/token_case.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally {

inline Tensor row_of(const std::vector<double>& numbers) {
  Tensor tensor(Dtype::fp32, {1, std::ssize(numbers)});
  for (std::size_t i = 0; i < numbers.size(); ++i) tensor.set(i, numbers[i]);
  return tensor;
}

/// A head of one feature over sequences of these lengths in one micro-batch. x has three columns, which q, k and v pick
/// by weights of 1, 1 and 1: x holds (q, k, v) of each row. Held against targets under mse, summed: dy = 2 (y - t).
inline Case one_head_case(const std::vector<double>& x, const std::vector<double>& target,
                          const std::vector<std::int64_t>& sequences, const Options& attention = {}) {
  Case c = small_case();
  c.name = "one head";
  const auto rows = std::ssize(target);
  c.model.input = 3;
  Options options = attention;
  options.emplace("heads", std::int64_t{1});
  const auto picks = [](const char* name) {
    return reading({"input"}, layer_of("linear", name, {{"out", std::int64_t{1}}, {"bias", false}}));
  };
  c.model.layers = {picks("q"), picks("k"), picks("v"),
                    reading({"q", "k", "v"}, layer_of("attention", "att", options))};
  c.model.loss = choice_of("loss", "mse");
  c.windows = {{rows}};
  c.sequences = sequences;
  c.normalisation = Normalisation::sum;
  Tensor values(Dtype::fp32, {rows, 3});
  for (std::size_t i = 0; i < x.size(); ++i) values.set(i, x[i]);
  c.tensors = {{"x", values},
               {"target", one_column(target)},
               {"q.weight", row_of({1, 0, 0})},
               {"k.weight", row_of({0, 1, 0})},
               {"v.weight", row_of({0, 0, 1})}};
  return c;
}

/// A sequence of two rows whose scores are all 0, as k is: the second row is the mean of both values. y is 1 and
/// (1 + 3) / 2 = 2; held against 0 and 1, dy is 2 and 2.
inline Case equal_scores_case() { return one_head_case({1, 0, 1, 2, 0, 3}, {0, 1}, {2}); }

/// A block of a small language model: norm, four heads of two on two of k and v, a residual sum, a shifted loss;
/// sequences of 1 to 5 rows, so that blocks of two keys are full and cut.
inline Case small_attention_model(unsigned seed, Dtype storage = Dtype::fp32, const Options& attention = {},
                                  const std::string& norm = "layer_norm") {
  Case c = small_case();
  c.name = "small attention model";
  c.precision.storage = storage;
  c.model.input = 7;
  c.model.tokens = true;
  Options options = attention;
  options.emplace("heads", std::int64_t{4});
  options.emplace("kv_heads", std::int64_t{2});
  const std::int64_t keys = std::get<std::int64_t>(options.at("kv_heads")) * 2;
  const auto linear = [](const char* name, std::int64_t out, const char* read) {
    return reading({read}, layer_of("linear", name, {{"out", out}}));
  };
  c.model.layers = {layer_of("embedding", "wte", {{"width", std::int64_t{6}}}),
                    layer_of(norm, "n1"),
                    linear("q", 8, "n1"),
                    linear("k", keys, "n1"),
                    linear("v", keys, "n1"),
                    reading({"q", "k", "v"}, layer_of("attention", "att", options)),
                    linear("o", 6, "att"),
                    reading({"wte", "o"}, layer_of("add", "sum")),
                    layer_of("linear", "head", {{"out", std::int64_t{7}}, {"bias", false}})};
  c.model.loss = choice_of("loss", "cross_entropy", {{"shift", true}});
  c.windows = {{8, 5}, {3}};
  c.sequences = {5, 1, 2, 4, 1, 3};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

}  // namespace tally
