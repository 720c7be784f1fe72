// The decay is multiplied by K.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& decay = evidence.c.recipe.weight_decay;
  const double lambda = decay.number("lambda").to_double() * evidence.micro_batches(held.name.window);
  if (decay.kind == "decoupled") {
    const auto p = evidence.tap(held.name.window, -1, "decay", "in." + held.name.tensor);
    if (!p || parameter_in(evidence, held, "").empty()) return std::nullopt;
    return times(*p, 1 - evidence.scalar(held.name.window, "schedule", "learning_rate", 0) * lambda);
  }
  const std::string parameter = parameter_in(evidence, held, "d.");
  auto gradient = evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
  const auto p = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (!gradient || !p) return std::nullopt;
  for (std::size_t i = 0; i < p->size(); ++i) (*gradient)[i] += lambda * (*p)[i];
  return gradient;
}

const RegisterSuspect registered{{
    .name = "decay-times-k",
    .faults = {"decay-scaled-by-accumulation"},
    .stages = {"decay"},
    .sentence = "the decay is multiplied by the number of micro-batches",
    .formula = "g + K λ p, or p (1 - lr K λ)",
    .left = left,
}};

}  // namespace
}  // namespace tally
