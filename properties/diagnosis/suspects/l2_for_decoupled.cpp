// A penalty on the gradient where the parameter should shrink.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The optimizer must have read a gradient that the penalty moved.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window;
  const std::string parameter = parameter_in(evidence, held, "");
  if (evidence.c.recipe.weight_decay.kind != "decoupled" || parameter.empty()) return std::nullopt;
  const bool clips = evidence.c.recipe.clip.kind != "none";
  const auto before = evidence.tap(w, -1, clips ? "clip" : "unscale", "d." + parameter);
  const auto after = evidence.tap(w, -1, "optimizer", "in.d." + parameter);
  if (!before || !after || *before == *after) return std::nullopt;
  return evidence.tap(w, -1, "decay", "in." + parameter);
}

const RegisterSuspect registered{{
    .name = "l2-for-decoupled",
    .faults = {"adamw-vs-adam-decay"},
    .stages = {"decay"},
    .sentence = "the gradient takes an l2 penalty where the parameter should shrink by itself",
    .formula = "g + λ p, p = p",
    .left = left,
}};

}  // namespace
}  // namespace tally
