// The forward pass that is run again drops other elements; what follows is computed from them.
#include <cmath>

#include "oracle/case/graph.hpp"
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally::other_mask_again_suspect {
namespace {

/// What the layer before leaves of what backward read of it; nullopt for a layer that is not computed here.
std::optional<Values> after(const Evidence& evidence, const HeldTensor& held, std::size_t layer) {
  const std::string label = label_of(evidence.c.model, layer), kind = evidence.c.model.layers[layer].kind;
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + label + tensor);
  };
  auto x = read(".x");
  if (!x) return std::nullopt;
  if (kind == "linear") {
    const auto weight = read(".weight"), bias = read(".bias");
    const auto in = static_cast<std::size_t>(features_before(evidence.c.model, layer));
    if (!weight || !bias) return std::nullopt;
    Values y(held.got.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t column = i % bias->size(), row = i / bias->size();
      y[i] = (*bias)[column];
      for (std::size_t k = 0; k < in; ++k) y[i] += (*x)[row * in + k] * (*weight)[column * in + k];
    }
    return y;
  }
  if (kind != "relu" && kind != "tanh" && kind != "sigmoid") return std::nullopt;
  for (double& v : *x) v = kind == "relu" ? std::fmax(v, 0.0) : kind == "tanh" ? std::tanh(v) : 1 / (1 + std::exp(-v));
  return x;
}

/// Behind the dropout every element is either dropped or kept, whichever is nearer.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Model& model = evidence.c.model;
  const auto layer = layer_at(evidence, held, "in.", "", ".x");
  if (!layer || first_input_of(model, *layer) == model_input) return std::nullopt;
  const auto from = static_cast<std::size_t>(first_input_of(model, *layer));
  if (model.layers[from].kind != "dropout") return after(evidence, held, from);
  const double kept = 1 / (1 - model.layers[from].number("p").to_double());
  const std::string label = label_of(model, from);
  auto x = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + label + ".x");
  if (!x) return std::nullopt;
  for (std::size_t i = 0; i < x->size(); ++i) {
    const double whole = kept * (*x)[i];
    (*x)[i] = std::fabs(held.got[i] - whole) < std::fabs(held.got[i]) ? whole : 0;
  }
  return x;
}

const RegisterSuspect registered{{
    .name = "recompute-draws-again",
    .faults = {"recompute-draws-again"},
    .stages = {"backward"},
    .sentence = "the forward pass that is run again for backward drops other elements than the first one did",
    .formula = "x = forward by another mask",
    .remedy = "keep the random state in the checkpoint: `checkpoint(…, preserve_rng_state=True)`",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::other_mask_again_suspect
