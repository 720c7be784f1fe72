// Nothing decays.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The gradient that came to the decay.
std::optional<Values> gradient_before(const Evidence& evidence, int window, const std::string& parameter) {
  const bool clips = evidence.c.recipe.clip.kind != "none";
  return evidence.tap(window, -1, clips ? "clip" : "unscale", "d." + parameter);
}

/// The optimizer must have read the gradient and the parameter as they were: else the decay went elsewhere.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window;
  const bool l2 = evidence.c.recipe.weight_decay.kind == "l2";
  const std::string parameter = parameter_in(evidence, held, l2 ? "d." : "");
  const auto gradient = gradient_before(evidence, w, parameter), p = evidence.tap(w, -1, "decay", "in." + parameter);
  if (parameter.empty() || !gradient || !p) return std::nullopt;
  if (evidence.tap(w, -1, "optimizer", "in.d." + parameter) != gradient) return std::nullopt;
  if (evidence.tap(w, -1, "optimizer", "in." + parameter) != p) return std::nullopt;
  return l2 ? gradient : p;
}

const RegisterSuspect registered{{
    .name = "decay-left-out",
    .faults = {"wrapper-drops-decay"},
    .stages = {"decay"},
    .sentence = "nothing decays: neither the gradient nor the parameter is touched",
    .formula = "g = g, p = p",
    .left = left,
}};

}  // namespace
}  // namespace tally
