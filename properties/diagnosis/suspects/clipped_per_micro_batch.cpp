// Every micro-batch is clipped by its own norm before it is added.
#include <algorithm>
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The norm of all gradients that this micro-batch left.
double own_norm(const Evidence& evidence, int window, int micro_batch) {
  double sum = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto gradient = evidence.tap(window, micro_batch, "backward", "d." + p);
    for (const double g : gradient.value_or(Values{})) sum += g * g;
  }
  return std::sqrt(sum);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  if (clip.kind != "global_norm" || parameter_in(evidence, held, "in.d.").empty()) return std::nullopt;
  const double norm = own_norm(evidence, held.name.window, held.name.micro_batch) + clip.number("epsilon").to_double();
  return times(held.expected, std::min(1.0, clip.number("max_norm").to_double() / norm));
}

const RegisterSuspect registered{{
    .name = "clipped-per-micro-batch",
    .faults = {"clip-per-microbatch"},
    .stages = {"accumulate"},
    .sentence = "every micro-batch is clipped by its own norm before it is added",
    .formula = "A = Σ clip(s_k)",
    .left = left,
}};

}  // namespace
}  // namespace tally
