// Suspects of decay.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally::decay_suspect {
namespace {

// Nothing decays.
namespace decay_left_out {

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
    .remedy = "pass `weight_decay` to the optimizer for the groups that are to decay, or state that nothing decays",
    .left = left,
}};

}  // namespace decay_left_out

// The decay is multiplied by K.
namespace decay_times_k {

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
    .name = "decay-scaled-by-accumulation",
    .faults = {"decay-scaled-by-accumulation"},
    .stages = {"decay"},
    .sentence = "the decay is multiplied by the number of micro-batches",
    .formula = "g + K λ p, or p (1 - lr K λ)",
    .remedy = "do not multiply the decay by the {K} micro-batches: it is no gradient that adds up",
    .left = left,
}};

}  // namespace decay_times_k

// Weight decay acts once for every micro-batch.
namespace decayed_k_times {

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
    .name = "decay-per-microbatch",
    .faults = {"decay-per-microbatch"},
    .stages = {"decay"},
    .sentence = "weight decay acts once for every micro-batch of the window",
    .formula = "g + K λ p, or p (1 - lr λ)^K",
    .remedy = "decay once a window, at the step, not with every micro-batch",
    .left = left,
}};

}  // namespace decayed_k_times

// The parameter shrinks where the penalty should be added to the gradient.
namespace decoupled_for_l2 {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (evidence.tap(held.name.window, -1, "optimizer", "in." + parameter) == before) return std::nullopt;
  return evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
}

const RegisterSuspect registered{{
    .name = "adam-vs-adamw-decay",
    .faults = {"adam-vs-adamw-decay"},
    .stages = {"decay"},
    .sentence = "the gradient takes no l2 penalty, the parameter shrinks instead: the decay is decoupled",
    .formula = "g = g, p (1 - lr λ)",
    .remedy = "use `torch.optim.Adam(weight_decay=…)`, which adds the decay to the gradient, or state `weight_decay` "
              "as decoupled",
    .left = left,
}};

}  // namespace decoupled_for_l2

// A penalty on the gradient where the parameter should shrink.
namespace l2_for_decoupled {

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
    .name = "adamw-vs-adam-decay",
    .faults = {"adamw-vs-adam-decay"},
    .stages = {"decay"},
    .sentence = "the gradient takes an l2 penalty where the parameter should shrink by itself",
    .formula = "g + λ p, p = p",
    .remedy = "use `torch.optim.AdamW` in place of `Adam(weight_decay=…)`; or state `weight_decay` as l2",
    .left = left,
}};

}  // namespace l2_for_decoupled

}  // namespace
}  // namespace tally::decay_suspect
