// The window's mean is the mean of its micro-batches' means.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "batch_norm", ".mean");
  if (!layer || held.name.micro_batch >= 0) return std::nullopt;
  const int window = held.name.window, count = evidence.micro_batches(window);
  const std::size_t features = held.got.size();
  Values mean(features, 0.0);
  for (int k = 0; k < count; ++k) {
    const auto x = evidence.tap(window, k, "forward", "in." + label_of(evidence.c.model, *layer) + ".x");
    if (!x) return std::nullopt;
    const double weight = static_cast<double>(features) / (static_cast<double>(x->size()) * count);
    for (std::size_t i = 0; i < x->size(); ++i) mean[i % features] += weight * (*x)[i];
  }
  return mean;
}

const RegisterSuspect registered{{
    .name = "mean-of-batch-means",
    .faults = {"syncbn-equal-weights"},
    .stages = {"forward"},
    .sentence = "the window's mean is the mean of its micro-batches' means, whatever their sizes",
    .formula = "μ = Σ μ_k / K",
    .left = left,
}};

}  // namespace
}  // namespace tally
