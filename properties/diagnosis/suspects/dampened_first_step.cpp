// The first step is dampened like all others.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& optimizer = evidence.c.recipe.optimizer;
  const std::string parameter = parameter_in(evidence, held, "momentum.");
  if (optimizer.kind != "sgd" || parameter.empty()) return std::nullopt;
  if (evidence.tap(held.name.window, -1, "optimizer", "in.momentum." + parameter)) return std::nullopt;
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  return times(*gradient, 1 - optimizer.number("dampening").to_double());
}

const RegisterSuspect registered{{
    .name = "dampened-first-step",
    .faults = {"dampening-on-first-step"},
    .stages = {"optimizer"},
    .sentence = "the first step, which has no buffer yet, is dampened like all others",
    .formula = "v = (1 - d) g at the first step",
    .left = left,
}};

}  // namespace
}  // namespace tally
