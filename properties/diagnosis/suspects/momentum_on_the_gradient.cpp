// The coefficient of momentum stands at the gradient.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& optimizer = evidence.c.recipe.optimizer;
  const std::string parameter = parameter_in(evidence, held, "momentum.");
  if (optimizer.kind != "sgd" || parameter.empty()) return std::nullopt;
  auto momentum = evidence.tap(held.name.window, -1, "optimizer", "in.momentum." + parameter);
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!momentum || !gradient) return std::nullopt;
  const double mu = optimizer.number("momentum").to_double();
  for (std::size_t i = 0; i < momentum->size(); ++i) (*momentum)[i] += mu * (*gradient)[i];
  return momentum;
}

const RegisterSuspect registered{{
    .name = "momentum-on-the-gradient",
    .faults = {"momentum-on-the-gradient"},
    .stages = {"optimizer"},
    .sentence = "the coefficient of momentum stands at the gradient, not at the buffer",
    .formula = "v = v + μ g",
    .left = left,
}};

}  // namespace
}  // namespace tally
