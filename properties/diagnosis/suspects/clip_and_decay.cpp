// Suspects of clip and of decay.
#include <algorithm>
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::clip_suspect {
namespace {

// Only what is too large is clamped.
namespace clamped_on_one_side {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (evidence.c.recipe.clip.kind != kinds::value || parameter.empty()) return std::nullopt;
  auto gradient = evidence.tap(held.name.window, -1, "clip", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  for (double& g : *gradient) g = std::min(g, evidence.c.recipe.clip.number("max_value").to_double());
  return gradient;
}

const RegisterSuspect registered{{
    .name = "value-clip-one-sided",
    .faults = {"value-clip-one-sided"},
    .stages = {"clip"},
    .sentence = "the clip by value clamps gradients above c, but not below -c",
    .formula = "g = min(g, c)",
    .remedy = "clamp on both sides: `g.clamp_(-c, c)`",
    .left = left,
}};

}  // namespace clamped_on_one_side

// The coefficient is not held below 1.
namespace clip_without_limit {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  if (held.name.tensor != "coefficient") return std::nullopt;
  const auto norm = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (!norm) return std::nullopt;
  return Values{clip.number("max_norm").to_double() / (norm->front() + clip.number("epsilon").to_double())};
}

const RegisterSuspect registered{{
    .name = "clip-coefficient-not-capped",
    .faults = {"clip-coefficient-not-capped"},
    .stages = {"clip"},
    .sentence = "the clip enlarges small gradients: its coefficient is not limited to 1",
    .formula = "coefficient = max_norm / (norm + eps)",
    .remedy = "limit the clip's coefficient to 1: `min(1, max_norm / (norm + eps))`, as `clip_grad_norm_` does",
    .left = left,
}};

}  // namespace clip_without_limit

// Matrices and vectors are clipped by norms of their own.
namespace clipped_per_group {

bool is_matrix(const std::string& parameter, const Case& c) { return c.tensors.at(parameter).shape.size() == 2; }

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (clip.kind != kinds::global_norm || parameter.empty()) return std::nullopt;
  double sum = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    if (is_matrix(p, evidence.c) != is_matrix(parameter, evidence.c)) continue;
    for (const double g : evidence.tap(held.name.window, -1, "clip", "in.d." + p).value_or(Values{})) sum += g * g;
  }
  const auto gradient = evidence.tap(held.name.window, -1, "clip", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  const double norm = std::sqrt(sum) + clip.number("epsilon").to_double();
  return times(*gradient, norm == 0 ? 1.0 : std::min(1.0, clip.number("max_norm").to_double() / norm));
}

const RegisterSuspect registered{{
    .name = "clip-per-group",
    .faults = {"clip-per-group"},
    .stages = {"clip"},
    .sentence = "matrices and vectors are clipped separately, each group by its own norm",
    .formula = "one coefficient for each group",
    .remedy = "clip all parameters in one call: `clip_grad_norm_(model.parameters(), max_norm)`",
    .left = left,
}};

}  // namespace clipped_per_group

// The epsilon in the coefficient's denominator is left out.
namespace epsilon_left_out {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  if (held.name.tensor != "coefficient") return std::nullopt;
  const auto norm = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (!norm || std::isnan(norm->front())) return std::nullopt;  // NaN stays NaN, with or without an epsilon
  return Values{std::min(1.0, rounded_to(Dtype::fp32, clip.number("max_norm").to_double()) / norm->front())};
}

const RegisterSuspect registered{{
    .name = "clip-epsilon-dropped",
    .faults = {"clip-epsilon-dropped"},
    .stages = {"clip"},
    .sentence = "the epsilon in the denominator of the clip is left out",
    .formula = "coefficient = max_norm / norm",
    .remedy = "divide by `norm + 1e-6`, as `clip_grad_norm_` does, or state the clip's epsilon as 0",
    .left = left,
}};

}  // namespace epsilon_left_out

// The clip replaces non-finite gradients with zero.
namespace non_finite_made_zero {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "d.").empty()) return std::nullopt;
  Values clipped = held.expected;
  for (double& g : clipped) g = std::isfinite(g) ? g : 0;
  return clipped;
}

const RegisterSuspect registered{{
    .name = "clip-hides-non-finite",
    .faults = {"clip-hides-non-finite"},
    .stages = {"clip"},
    .sentence = "the clip replaces non-finite gradients with zero, without a warning",
    .formula = "g = 0 where it is not finite",
    .remedy = "let NaN and infinity through the clip, so that the step is skipped or fails: `error_if_nonfinite=True`",
    .left = left,
}};

}  // namespace non_finite_made_zero
}  // namespace
}  // namespace tally::clip_suspect

namespace tally::decay_suspect {
namespace {

// Nothing decays.
namespace decay_left_out {

/// The gradient that came to the decay.
std::optional<Values> gradient_before(const Evidence& evidence, int window, const std::string& parameter) {
  const bool clips = evidence.c.recipe.clip.kind != kinds::none;
  return evidence.tap(window, -1, clips ? "clip" : "unscale", "d." + parameter);
}

/// The optimizer must have read the gradient and the parameter as they were: else the decay went elsewhere.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window;
  const bool l2 = evidence.c.recipe.weight_decay.kind == kinds::l2;
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
    .sentence = "weight decay is not applied, neither to the gradient nor to the parameter",
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
  if (decay.kind == kinds::decoupled) {
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
    .sentence = "weight decay is multiplied by the number of micro-batches",
    .formula = "g + K λ p, or p (1 - lr K λ)",
    .remedy = "do not multiply the decay by the {K} micro-batches: it is not accumulated",
    .left = left,
}};

}  // namespace decay_times_k

// Weight decay acts once for every micro-batch.
namespace decayed_k_times {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& decay = evidence.c.recipe.weight_decay;
  const double lambda = decay.number("lambda").to_double();
  const int times_decayed = evidence.micro_batches(held.name.window);
  if (decay.kind == kinds::decoupled) {
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
    .sentence = "weight decay is applied once per micro-batch, not once per window",
    .formula = "g + K λ p, or p (1 - lr λ)^K",
    .remedy = "decay once per window, at the step, not with every micro-batch",
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
    .sentence = "weight decay is decoupled: the parameter shrinks, and the gradient gets no L2 penalty",
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
  if (evidence.c.recipe.weight_decay.kind != kinds::decoupled || parameter.empty()) return std::nullopt;
  const bool clips = evidence.c.recipe.clip.kind != kinds::none;
  const auto before = evidence.tap(w, -1, clips ? "clip" : "unscale", "d." + parameter);
  const auto after = evidence.tap(w, -1, "optimizer", "in.d." + parameter);
  if (!before || !after || *before == *after) return std::nullopt;
  return evidence.tap(w, -1, "decay", "in." + parameter);
}

const RegisterSuspect registered{{
    .name = "adamw-vs-adam-decay",
    .faults = {"adamw-vs-adam-decay"},
    .stages = {"decay"},
    .sentence = "weight decay is an L2 penalty in the gradient, but should be decoupled and shrink the parameter",
    .formula = "g + λ p, p = p",
    .remedy = "use `torch.optim.AdamW` in place of `Adam(weight_decay=…)`; or state `weight_decay` as l2",
    .left = left,
}};

}  // namespace l2_for_decoupled

}  // namespace
}  // namespace tally::decay_suspect
