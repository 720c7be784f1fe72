// Bugs of clip: its coefficient, and where it stands.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::clip_bug {
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

const RegisterBug registered{{
    .name = "value-clip-one-sided",
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

const RegisterBug registered{{
    .name = "clip-coefficient-not-capped",
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

const RegisterBug registered{{
    .name = "clip-per-group",
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

const RegisterBug registered{{
    .name = "clip-epsilon-dropped",
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

const RegisterBug registered{{
    .name = "clip-hides-non-finite",
    .stages = {"clip"},
    .sentence = "the clip replaces non-finite gradients with zero, without a warning",
    .formula = "g = 0 where it is not finite",
    .remedy = "let NaN and infinity through the clip, so that the step is skipped or fails: `error_if_nonfinite=True`",
    .left = left,
}};

}  // namespace non_finite_made_zero

// Every micro-batch is clipped by its own norm before it is added.
namespace clipped_per_micro_batch {

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
  if (clip.kind != kinds::global_norm || parameter_in(evidence, held, "in.d.").empty()) return std::nullopt;
  const double norm = own_norm(evidence, held.name.window, held.name.micro_batch) + clip.number("epsilon").to_double();
  return times(held.expected, std::min(1.0, clip.number("max_norm").to_double() / norm));
}

/// At this place. It would be of another norm as well where gradients are scaled.
Restated clipped_at(const Case& c, ClipPlace place, const std::string& formula) {
  Restated way;
  way.changed = written_scale(c.recipe.loss_scale) != nullptr ? 3 : 1;
  way.deviation.clip = place;
  way.sentence = "every micro-batch is clipped before the next one is added";
  way.formula = formula;
  return way;
}

std::vector<Restated> restated(const Case& c, const Trace&) {
  if (!clips(c.recipe.clip)) return {};
  return {clipped_at(c, ClipPlace::each_gradient, "A = Σ clip(s_k)"),
          clipped_at(c, ClipPlace::running_sum, "A = clip(clip(s_0) + s_1) + …")};
}

const RegisterBug registered{{
    .name = "clip-per-microbatch",
    .stages = {"accumulate"},
    .sentence = "every micro-batch is clipped by its own norm before it is added",
    .formula = "A = Σ clip(s_k)",
    .remedy = "clip once per window, after its last `backward()` and before `optimizer.step()`",
    .call = "clip",
    .left = left,
    .restated = restated,
}};

}  // namespace clipped_per_micro_batch

// Nothing is clipped.
const RegisterBug registered_left_out{{
    .name = "clip-left-out",
    .sentence = "nothing is clipped",
    .formula = "g = g, whatever its norm",
    .remedy =
        "call `clip_grad_norm_` after the window's last `backward()` and before `optimizer.step()`, or state no clip",
    .restated = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip)) return {};
      Restated way;
      way.change = [](Case& other) { other.recipe.clip = {"none", {}}; };
      return {way};
    },
}};

}  // namespace
}  // namespace tally::clip_bug
