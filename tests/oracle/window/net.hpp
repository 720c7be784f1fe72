// A network of ordinary size: linear, maybe a norm, an activation, linear, a loss; weights as they are usually begun.
#pragma once

#include <cmath>
#include <random>
#include <string>

#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle {

struct Net {
  std::int64_t in, hidden, out, rows;
  std::string activation, loss;  // kinds
  std::string norm = "";         // batch_norm, layer_norm or none
};

/// Floats with all bits in use, normally distributed, times `scale`.
inline Tensor normal(std::vector<std::int64_t> shape, double scale, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> draw(0, scale);
  Tensor tensor(Dtype::fp32, std::move(shape));
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, draw(random));
  return tensor;
}

inline Choice loss_of(const std::string& kind) {
  if (kind == "mse") return {"mse", {{"item_weights", false}}};
  return {
      kind,
      {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{"0"}}, {"weight", std::vector<Decimal>{}}}};
}

/// Options of every kind that a net may have.
inline Layer layer_of(const std::string& kind, const std::string& name) {
  if (kind == "batch_norm")
    return {{kind,
             {{"eps", Decimal{"1e-5"}},
              {"momentum", Decimal{"0.1"}},
              {"affine", true},
              {"statistics", std::string("window")}}},
            name};
  if (kind == "layer_norm") return {{kind, {{"eps", Decimal{"1e-5"}}, {"affine", true}}}, name};
  if (kind == "gelu") return {{kind, {{"approximate", std::string("none")}}}, name};
  if (kind == "gelu_tanh") return {{"gelu", {{"approximate", std::string("tanh")}}}, name};
  if (kind == "dropout") return {{kind, {{"p", Decimal{"0.25"}}}}, name};
  return {{kind, {}}, name};
}

inline Case case_of(const Net& net) {
  Case c;
  c.model.input = net.in;
  c.model.layers.push_back({{"linear", {{"out", net.hidden}, {"bias", true}}}, "fc1"});
  if (!net.norm.empty()) c.model.layers.push_back(layer_of(net.norm, "norm"));
  c.model.layers.push_back(layer_of(net.activation, net.activation == "dropout" ? "drop" : ""));
  c.model.layers.push_back({{"linear", {{"out", net.out}, {"bias", true}}}, "fc2"});
  c.model.loss = loss_of(net.loss);
  c.windows = {{net.rows}};
  c.recipe = plain_recipe();
  const double first = std::sqrt(2.0 / double(net.in)), second = std::sqrt(2.0 / double(net.hidden));
  c.tensors = {{"x", normal({net.rows, net.in}, 1, 1)},
               {"fc1.weight", normal({net.hidden, net.in}, first, 2)},
               {"fc1.bias", normal({net.hidden}, first, 3)},
               {"fc2.weight", normal({net.out, net.hidden}, second, 4)},
               {"fc2.bias", normal({net.out}, second, 5)}};
  if (net.loss == "mse") {
    c.tensors["target"] = normal({net.rows, net.out}, 1, 6);
  } else {
    Tensor target(Dtype::i64, {net.rows});
    for (std::int64_t r = 0; r < net.rows; ++r) target.set(static_cast<std::size_t>(r), double(r * 7 % net.out));
    c.tensors["target"] = target;
  }
  if (!net.norm.empty()) {
    c.tensors["norm.weight"] = normal({net.hidden}, 1, 7);
    c.tensors["norm.bias"] = normal({net.hidden}, 1, 8);
  }
  if (net.norm == "batch_norm") {
    c.tensors["norm.running_mean"] = normal({net.hidden}, 1, 9);
    c.tensors["norm.running_var"] = Tensor(Dtype::fp32, {net.hidden});
    for (std::int64_t i = 0; i < net.hidden; ++i) c.tensors["norm.running_var"].set(static_cast<std::size_t>(i), 1);
  }
  if (net.activation == "dropout") {
    Tensor mask(Dtype::u8, {net.rows, net.hidden});
    for (std::size_t i = 0; i < mask.elements(); ++i) mask.set(i, i % 5 != 0 ? 1 : 0);
    c.tensors["drop.mask"] = mask;
  }
  return c;
}

}  // namespace tally::oracle
