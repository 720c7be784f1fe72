// Weight decay acts once for every micro-batch.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& decay = evidence.c.recipe.weight_decay;
  const double lambda = decay.number("lambda").to_double();
  const int times_decayed = evidence.micro_batches(held.name.window);
  if (decay.kind == "decoupled") {
    const auto p = evidence.tap(held.name.window, -1, "decay", "in." + held.name.tensor);
    if (!p || parameter_in(evidence, held, "").empty()) return std::nullopt;
    const double rate = evidence.scalar(held.name.window, "schedule", "learning_rate", 0);
    return times(*p, std::pow(1 - rate * lambda, times_decayed));
  }
  const std::string parameter = parameter_in(evidence, held, "d.");
  auto gradient = evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
  const auto p = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (!gradient || !p) return std::nullopt;
  for (std::size_t i = 0; i < p->size(); ++i) (*gradient)[i] += times_decayed * lambda * (*p)[i];
  return gradient;
}

const RegisterSuspect registered{{
    .name = "decayed-k-times",
    .faults = {"decay-per-microbatch"},
    .stages = {"decay"},
    .sentence = "weight decay acts once for every micro-batch of the window",
    .formula = "g + K λ p, or p (1 - lr λ)^K",
    .left = left,
}};

}  // namespace
}  // namespace tally
