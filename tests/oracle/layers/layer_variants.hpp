// Every kind of layer with every option that changes its mathematics, over a few rows.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/exact/exact.hpp"
#include "tests/oracle/real/drawn.hpp"

namespace tally::oracle {

struct LayerVariant {
  std::string name;  // letters and digits: the name of its test
  Layer layer;
  Tensors<double> tensors;
  Matrix<double> x, dy;
  Cut cut;
  bool came_later = false;  // found in the registry: nothing of its own is said of it here
};

inline Layer layer_of(std::string kind, std::map<std::string, OptionValue> options = {}) {
  return {{std::move(kind), std::move(options)}, "layer"};
}

inline LayerVariant variant(std::string name, Layer layer, Tensors<double> tensors, Eigen::Index in = 3,
                            Eigen::Index out = 3) {
  return {std::move(name), std::move(layer), std::move(tensors), drawn(5, in, 11), drawn(5, out, 12), {3, 2}};
}

inline LayerVariant norm_variant(std::string name, std::string kind, bool affine, std::string statistics) {
  std::map<std::string, OptionValue> options{{"eps", Decimal{"1e-5"}}, {"affine", affine}};
  Tensors<double> tensors;
  if (affine) tensors = {{"weight", drawn(1, 3, 21)}, {"bias", drawn(1, 3, 22)}};
  if (!statistics.empty()) {
    options["statistics"] = statistics;
    options["momentum"] = Decimal{"0.1"};
    tensors["running_mean"] = drawn(1, 3, 23);
    tensors["running_var"] = drawn(1, 3, 24).cwiseAbs();
  }
  return variant(std::move(name), layer_of(std::move(kind), std::move(options)), std::move(tensors));
}

inline std::vector<LayerVariant> layer_variants() {
  const Matrix<double> weight = drawn(4, 3, 31), bias = drawn(1, 4, 32);
  const Matrix<double> mask = drawn(5, 3, 33).unaryExpr([](double v) { return v > 0 ? 1.0 : 0.0; });
  const auto gelu = [](const char* form) { return layer_of("gelu", {{"approximate", std::string(form)}}); };
  std::vector<LayerVariant> all{
      variant("linear", layer_of("linear", {{"bias", true}}), {{"weight", weight}, {"bias", bias}}, 3, 4),
      variant("linear_without_bias", layer_of("linear", {{"bias", false}}), {{"weight", weight}}, 3, 4),
      variant("relu", layer_of("relu"), {}),
      variant("tanh", layer_of("tanh"), {}),
      variant("sigmoid", layer_of("sigmoid"), {}),
      variant("gelu_erf", gelu("none"), {}),
      variant("gelu_tanh", gelu("tanh"), {}),
      variant("dropout", layer_of("dropout", {{"p", Decimal{"0.3"}}}), {{"mask", mask}}),
      norm_variant("layer_norm", "layer_norm", true, ""),
      norm_variant("layer_norm_plain", "layer_norm", false, ""),
      norm_variant("batch_norm_micro_batch", "batch_norm", true, "micro_batch"),
      norm_variant("batch_norm_window", "batch_norm", true, "window"),
      norm_variant("batch_norm_frozen", "batch_norm", true, "frozen"),
      norm_variant("batch_norm_plain", "batch_norm", false, "micro_batch")};
  // Kinds that came later and take nothing but x.
  for (const Contract* contract : drawn_contracts_of("layer")) {
    const auto named = [&](const LayerVariant& v) { return v.layer.kind == contract->kind; };
    if (!contract->options.empty() || std::any_of(all.begin(), all.end(), named)) continue;
    all.push_back(variant(contract->kind, layer_of(contract->kind), {}));
    all.back().came_later = true;
  }
  return all;
}

template <class T>
Tensors<T> as(const Tensors<double>& tensors) {
  Tensors<T> result;
  for (const auto& [name, tensor] : tensors) result.emplace(name, tensor.template cast<T>());
  return result;
}

}  // namespace tally::oracle
