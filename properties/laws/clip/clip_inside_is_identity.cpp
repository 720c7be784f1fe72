// Law: a clip whose limit the gradient does not reach changes no bit; half that limit changes some.
//   norm + eps <= max_norm (1 - 8u): coefficient 1, g 1 = g;   |g_i| <= max_value for every i: clamp(g) = g
// The limit is set just outside the norm (the largest element) that a first run measures. Vacuous where the gradient
// is zero or not finite: no limit is near it.
#include <algorithm>
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::clip_inside_is_identity_law {
namespace {

/// How far outside: more than the 8 roundings that norm, sum and quotient may take, and where the norm's kernel does
/// not repeat its order of additions more than two orders may be apart.
double just_outside(const Trace& trace) {
  double addends = 0;
  const auto claim = trace.claims.kernels.find("norm");
  if (claim == trace.claims.kernels.end() || claim->second.repeats != Repeats::bitwise) {
    for (const Tap& tap : trace.taps())
      addends += tap.name.stage == "unscale" ? static_cast<double>(tap.value.elements()) : 0;
  }
  return 1 + (32 + 2 * addends) * 0x1p-24;
}

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  plan.windows.resize(1);
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient between clip and step
  plan.recipe.clip =
      choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string(norms[plan.seed % 3])}});
  if (plan.seed % 4 == 0) plan.recipe.clip = choice("clip", "value", {{"max_value", Decimal{"1"}}});
}

Case with_limit(Case c, double limit) {
  c.recipe.clip.options[c.recipe.clip.kind == "value" ? "max_value" : "max_norm"] = decimal(limit);
  return c;
}

/// What the clip compares with its limit; 0 where nothing of it is finite.
double reach_of(const Case& c, const Trace& trace) {
  double reach = 0;
  if (c.recipe.clip.kind == "global_norm") {
    const Tensor* norm = trace.find("w0/norm/norm");
    reach = norm ? norm->value(0) + c.recipe.clip.number("epsilon").to_double() : 0;
  } else {
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* gradient = trace.find("w0/unscale/d." + parameter);
      for (std::size_t i = 0; gradient && i < gradient->elements(); ++i)
        reach = std::max(reach, std::fabs(gradient->value(i)));
    }
  }
  return std::isfinite(reach) ? reach : 0;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Trace unclipped = run(with_limit(c, 0x1p100), subject);
  const double reach = reach_of(c, unclipped);
  if (reach == 0) {
    Outcome nothing;
    nothing.status = Status::vacuous;
    nothing.message = "the gradient is zero or not finite: no limit is near it";
    return nothing;
  }
  const Case inside = with_limit(c, reach * just_outside(unclipped));
  CheckedRun judged = run_and_check(inside, subject);
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* before = judged.trace.find("w0/clip/in.d." + parameter);
    const Tensor* after = judged.trace.find("w0/clip/d." + parameter);
    const std::string name = "w0/clip/d." + parameter;
    require(judged.outcome, before && after && *before == *after, name, "clip",
            "a clip that the gradient does not reach changed bits of " + parameter);
  }
  add(judged.outcome, run_and_check(with_limit(c, reach / 2), subject).outcome);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const Trace unclipped = run(with_limit(c, 0x1p100), subject);
  const double reach = reach_of(c, unclipped);
  if (reach == 0) return false;
  return bits_differ(run(with_limit(c, reach * just_outside(unclipped)), subject),
                     run(with_limit(c, reach / 2), subject), {"clip"});
}

const RegisterLaw registered{{
    .name = "clip_inside_is_identity",
    .family = "clipping",
    .statement = "A clip that the gradient does not reach is a bitwise identity, however near it is.",
    .shape = shape,
    .holds = holds,
    .control = "half that limit changes the clipped gradient",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::clip_inside_is_identity_law
