// Suspects of clip.
#include <algorithm>
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally::clip_suspect {
namespace {

// Only what is too large is clamped.
namespace clamped_on_one_side {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (evidence.c.recipe.clip.kind != "value" || parameter.empty()) return std::nullopt;
  auto gradient = evidence.tap(held.name.window, -1, "clip", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  for (double& g : *gradient) g = std::min(g, evidence.c.recipe.clip.number("max_value").to_double());
  return gradient;
}

const RegisterSuspect registered{{
    .name = "value-clip-one-sided",
    .faults = {"value-clip-one-sided"},
    .stages = {"clip"},
    .sentence = "the clip by value clamps what is too large, and lets pass what is too small",
    .formula = "g = min(g, c)",
    .remedy = "clamp to both sides: `g.clamp_(-c, c)`",
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
    .sentence = "the clip also makes small gradients larger: its coefficient is not held below 1",
    .formula = "coefficient = max_norm / (norm + eps)",
    .remedy = "hold the clip's coefficient at 1 or below: `min(1, max_norm / (norm + eps))`, as `clip_grad_norm_` does",
    .left = left,
}};

}  // namespace clip_without_limit

// Matrices and vectors are clipped by norms of their own.
namespace clipped_per_group {

bool is_matrix(const std::string& parameter, const Case& c) { return c.tensors.at(parameter).shape.size() == 2; }

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (clip.kind != "global_norm" || parameter.empty()) return std::nullopt;
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
    .sentence = "matrices and vectors are clipped apart, each by the norm of its own",
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

// What is not finite becomes zero when it is clipped.
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
    .sentence = "what is not finite becomes zero when it is clipped, and nobody is told",
    .formula = "g = 0 where it is not finite",
    .remedy = "let NaN and infinity through the clip, so that the step is skipped or fails: `error_if_nonfinite=True`",
    .left = left,
}};

}  // namespace non_finite_made_zero

}  // namespace
}  // namespace tally::clip_suspect
