// Cases with an addition, small enough to be worked on paper: one row of one feature, weights without a bias.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/small_case.hpp"

namespace tally {

/// The layer, which names what it reads.
inline Layer reading(std::vector<std::string> inputs, Layer layer) {
  layer.inputs = std::move(inputs);
  return layer;
}

/// One feature in, one out: y = weight · x.
inline Layer weight_alone(const std::string& name) {
  return layer_of("linear", name, {{"out", std::int64_t{1}}, {"bias", false}});
}

inline Tensor one_number(double value, Dtype dtype = Dtype::fp32) {
  Tensor tensor(dtype, {1, 1});
  tensor.set(0, value);
  return tensor;
}

/// One window of one row under mse; `weights` by layer.
inline Case one_row_case(std::vector<Layer> layers, double x, double target,
                         const std::map<std::string, double>& weights, Dtype storage = Dtype::fp32) {
  Case c = small_case();
  c.name = "one row";
  c.model.input = 1;
  c.model.layers = std::move(layers);
  c.model.loss = choice_of("loss", "mse");
  c.windows = {{1}};
  c.precision.storage = storage;
  c.tensors = {{"x", one_number(x, storage)}, {"target", one_number(target, storage)}};
  for (const auto& [layer, weight] : weights) c.tensors[layer + ".weight"] = one_number(weight);
  return c;
}

/// The smallest residual block: a = 3 · 2 = 6, b = 5 a = 30, sum = a + b = 36, held against 31.
inline Case residual_case() {
  return one_row_case({weight_alone("a"), weight_alone("b"), reading({"a", "b"}, layer_of("add", "sum"))}, 2, 31,
                      {{"a", 3}, {"b", 5}});
}

/// The same output named twice: a = 3 · 2 = 6, sum = a + a = 12, held against 7.
inline Case doubled_case() {
  return one_row_case({weight_alone("a"), reading({"a", "a"}, layer_of("add", "sum"))}, 2, 7, {{"a", 3}});
}

/// A sum that shows its order: a = 1, b = c = h, where h is half the distance from 1 to the next number. b + c + a is
/// that number, and a + b + c is 1. Held against half of 1 less than the former, so that the gradient of sum is 1.
inline Case half_ulps_case(Dtype storage, double h) {
  return one_row_case({weight_alone("a"), weight_alone("b"), reading({"a"}, weight_alone("c")),
                       reading({"b", "c", "a"}, layer_of("add", "sum"))},
                      1, 0.5 + 2 * h, {{"a", 1}, {"b", h}, {"c", h}}, storage);
}

/// Half the distance from 1 to the next number of a format that activations may have.
inline double half_an_ulp(Dtype storage) {
  return storage == Dtype::fp32 ? 0x1p-24 : storage == Dtype::fp16 ? 0x1p-11 : 0x1p-8;
}

}  // namespace tally
