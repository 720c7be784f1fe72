// Bugs of norm.
#include <cmath>
#include <limits>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"
#include "properties/diagnosis/settings.hpp"

namespace tally::norm_bug {
namespace {

// The norm that clips is the norm of the scaled gradient.
namespace clip_before_unscale {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm" || evidence.c.recipe.clip.kind != kinds::global_norm) return std::nullopt;
  const auto clips = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (clips && *clips != held.got) return std::nullopt;  // the clip reads another norm than is reported
  return norm_of(evidence, held.name.window, "unscale", "in.buffer.", parameters_of(evidence.c.model));
}

const RegisterBug registered{{
    .name = "clip-before-unscale",
    .stages = {"norm"},
    .sentence = "the norm is that of the scaled gradient: clipping comes before unscaling",
    .formula = "norm = |A|",
    .remedy = "call `scaler.unscale_(optimizer)` before `clip_grad_norm_`",
    .left = left,
    .restated = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip) || written_scale(c.recipe.loss_scale) == nullptr) return {};
      Restated way;
      way.deviation.clip = ClipPlace::before_unscale;
      return {way};
    },
}};

}  // namespace clip_before_unscale

// The squares of the norm are formed and added in fp16.
namespace fp16_norm {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm" || evidence.c.recipe.clip.text("norm") != "2") return std::nullopt;
  double sum = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto gradient = evidence.tap(held.name.window, -1, "norm", "in.d." + p);
    if (!gradient) return std::nullopt;
    for (const double g : *gradient) sum = rounded_to(Dtype::fp16, sum + rounded_to(Dtype::fp16, g * g));
  }
  return Values{std::sqrt(sum)};
}

const RegisterBug registered{{
    .name = "norm-in-half",
    .stages = {"norm"},
    .sentence = "the squares of the norm are computed and summed in fp16",
    .formula = "norm = √ Σ fp16(g²), rounded to fp16 after every term",
    .remedy = "compute and sum the squares of the norm in fp32",
    .left = left,
}};

}  // namespace fp16_norm

// Partial sums are read before their threads have written them. Memory that nobody wrote reads as NaN on the host.
namespace missing_barrier {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return Values{std::numeric_limits<double>::quiet_NaN()};
}

const RegisterBug registered{{
    .name = "missing-barrier",
    .stages = {"norm"},
    .sentence = "partial sums are read before their threads have written them",
    .formula = "norm = partial sums nobody has written, NaN",
    .remedy = "add a barrier between writing the partial sums and reading them",
    .left = left,
}};

}  // namespace missing_barrier

// One parameter is counted twice in the norm.
namespace norm_counts_one_twice {

/// The parameter with which all windows' norms are nearest to what came.
std::vector<std::string> counted(const Evidence& evidence) {
  const auto all = parameters_of(evidence.c.model);
  std::vector<std::string> nearest = all;
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& twice : all) {
    std::vector<std::string> with = all;
    with.push_back(twice);
    double off = 0;
    for (const HeldTensor& held : evidence.held) {
      const auto norm = recipe_norm_of(evidence, held.name.window, with);
      if (norm) off += std::pow(norm->front() - held.got.front(), 2);
    }
    if (off < least) least = off, nearest = with;
  }
  return nearest;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return recipe_norm_of(evidence, held.name.window, counted(evidence));
}

const RegisterBug registered{{
    .name = "clip-duplicate-count",
    .stages = {"norm"},
    .sentence = "the norm counts a shared parameter twice",
    .formula = "norm² = Σ |g_p|² + |g_q|²",
    .remedy = "count a shared parameter once in the norm: pass `model.parameters()`, which yields it once",
    .left = left,
    .parameters = 1,
}};

}  // namespace norm_counts_one_twice

// The square root is left out.
namespace norm_not_rooted {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm" || evidence.c.recipe.clip.kind != kinds::global_norm) return std::nullopt;
  return Values{held.expected.front() * held.expected.front()};
}

const RegisterBug registered{{
    .name = "norm-not-rooted",
    .stages = {"norm"},
    .sentence = "the norm lacks its square root",
    .formula = "norm = Σ g²",
    .remedy = "take the square root of the sum of squares",
    .left = left,
}};

}  // namespace norm_not_rooted

// The norm is taken over the first parameter only.
namespace norm_of_first_parameter {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return norm_of(evidence, held.name.window, "norm", "in.d.", {parameters_of(evidence.c.model).front()});
}

const RegisterBug registered{{
    .name = "clip-local-norm",
    .stages = {"norm"},
    .sentence = "the norm is taken over the first parameter only, not over all",
    .formula = "norm = |g_first|",
    .remedy = "take the norm over all parameters together: `clip_grad_norm_(model.parameters(), max_norm)`",
    .left = left,
}};

}  // namespace norm_of_first_parameter

// The norm is taken over the last parameter only.
namespace norm_of_last_parameter {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return norm_of(evidence, held.name.window, "norm", "in.d.", {parameters_of(evidence.c.model).back()});
}

const RegisterBug registered{{
    .name = "norm-of-last-parameter",
    .stages = {"norm"},
    .sentence = "the norm is that of the last parameter only: each overwrites the one before",
    .formula = "norm = |g_last|",
    .remedy = "add up the squares of all parameters, without overwriting those before",
    .left = left,
}};

}  // namespace norm_of_last_parameter

// The slots of the norms are off by one.
namespace norm_slots_shift {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  auto slots = parameters_of(evidence.c.model);
  if (slots.size() < 2) return std::nullopt;
  slots[1] = slots[0];
  return recipe_norm_of(evidence, held.name.window, slots);
}

const RegisterBug registered{{
    .name = "multi-tensor-norm-offset",
    .stages = {"norm"},
    .sentence = "the slots of the parameters' norms are off by one: the first counts twice, the second not at all",
    .formula = "norm² = Σ |g_p|² + |g_0|² - |g_1|²",
    .remedy = "give each parameter its own slot when their norms are collected",
    .left = left,
}};

}  // namespace norm_slots_shift

// The norm that is reported is that of the scaled gradient; the one that clips is right.
namespace reported_norm_scaled {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto clips = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (held.name.tensor != "norm" || !clips || *clips == held.got) return std::nullopt;
  return times(*clips, evidence.scale(held.name.window));
}

const RegisterBug registered{{
    .name = "reported-norm-still-scaled",
    .stages = {"norm"},
    .sentence = "the reported norm is that of the scaled gradient; the clip reads the unscaled one",
    .formula = "norm = S |g|, and the clip reads |g|",
    .remedy = "report the norm after `scaler.unscale_(optimizer)`",
    .left = left,
}};

}  // namespace reported_norm_scaled
}  // namespace
}  // namespace tally::norm_bug

// One of all parameters does not enter what is taken over all.
namespace tally::one_left_out_bug {
namespace {

Tensor zeros_like(const Tensor& tensor) { return Tensor(tensor.dtype, tensor.shape); }

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  for (const std::string& parameter : parameters_of(evidence.c.model)) {
    const Trace other = altered(evidence.trace, [&](const Tap& tap) -> std::optional<Tensor> {
      const bool its_own = tap.name.stage == evidence.check.stage && tap.name.tensor.starts_with("in.") &&
                           tap.name.tensor.ends_with("." + parameter);
      return its_own ? std::optional(zeros_like(tap.value)) : std::nullopt;
    });
    all.push_back({what_if(evidence, evidence.c, other), parameter + " is left out", "over all parameters but one", 1});
  }
  return all;
}

const RegisterBug registered{{
    .name = "one-left-out",
    .stages = {"norm", "overflow_check"},
    .sentence = "one parameter is left out of a stage over all parameters",
    .formula = "over all parameters but one",
    .remedy = "include all parameters: one is missing from the list",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::one_left_out_bug
