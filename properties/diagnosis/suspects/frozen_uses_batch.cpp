// A frozen norm normalises by the batch.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "batch_norm", ".y");
  if (!layer || evidence.c.model.layers[*layer].text("statistics") != "frozen") return std::nullopt;
  const std::string label = label_of(evidence.c.model, *layer);
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "forward", "in." + label + tensor);
  };
  const auto x = read(".x"), weight = read(".weight"), bias = read(".bias");
  if (!x) return std::nullopt;
  const auto features = static_cast<std::size_t>(features_before(evidence.c.model, *layer));
  const auto rows = static_cast<double>(x->size() / features);
  Values mean(features, 0.0), variance(features, 0.0), y = *x;
  for (std::size_t i = 0; i < y.size(); ++i) mean[i % features] += (*x)[i] / rows;
  for (std::size_t i = 0; i < y.size(); ++i) variance[i % features] += std::pow((*x)[i] - mean[i % features], 2) / rows;
  const double epsilon = evidence.c.model.layers[*layer].number("eps").to_double();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t f = i % features;
    y[i] = ((*x)[i] - mean[f]) / std::sqrt(variance[f] + epsilon);
    if (weight && bias) y[i] = y[i] * (*weight)[f] + (*bias)[f];
  }
  return y;
}

const RegisterSuspect registered{{
    .name = "frozen-uses-batch",
    .faults = {"frozen-bn-uses-batch"},
    .stages = {"forward"},
    .sentence = "a frozen norm normalises by the batch all the same",
    .formula = "y = γ (x - μ_k) / √(v_k + ε) + β",
    .left = left,
}};

}  // namespace
}  // namespace tally
