// Laws of the clip: once a window, by its own norm, and not at all inside the limit.
#include <algorithm>
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a clip whose limit the gradient does not reach changes no bit; half that limit changes some.
//   norm + eps <= max_norm (1 - 8u): coefficient 1, g 1 = g;   |g_i| <= max_value for every i: clamp(g) = g
// The limit is set just outside the norm (the largest element) that a first run measures. Vacuous where the gradient
// is zero or not finite: no limit is near it.
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

// Law: clipping acts once a window, after accumulation and unscaling, on the global norm over all parameters.
//   coefficient = min(1, max_norm / (norm + eps));  a clip far above the norm changes no bit
namespace tally::clip_once_after_unscale_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient between clip and step
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{plan.seed % 3 == 0 ? "0.5" : "0.03"}}});
  plan.recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{"128"}}});
}

Case with_max_norm(Case c, const std::string& max_norm) {
  c.recipe.clip.options["max_norm"] = Decimal{max_norm};
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  if (outcome.status == Status::not_run) return outcome;
  const Trace wide = run(with_max_norm(c, "1e30"), subject);
  for (const Tap& tap : wide.taps()) {
    if (tap.name.stage != "clip" || !tap.name.tensor.starts_with("in.d.")) continue;
    TapName after = tap.name;
    after.tensor = after.tensor.substr(3);
    const Tensor* clipped = wide.find(after.view());
    require(outcome, clipped && *clipped == tap.value, after.text(), "clip", "a clip far above the norm changed bits");
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_max_norm(c, "1e30"), subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "clip_once_after_unscale",
    .family = "clipping",
    .statement = "Clipping acts once a window, after unscaling, on the norm over all parameters.",
    .shape = shape,
    .holds = holds,
    .control = "an inactive clip gives another update",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::clip_once_after_unscale_law

// Law: the clip by the 1-norm, the 2-norm and the inf-norm each follows its own definition, over all parameters once.
// The limit lies below every norm that is drawn, so that the coefficient acts; a gradient of zeros leaves nothing to
// clip.
namespace tally::every_norm_clips_law {
namespace {

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  at_least_micro_batches(plan, 2);
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient between clip and step
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.0009765625"}}, {"norm", std::string(norms[plan.seed % 3])}});
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.recipe.clip.options["norm"] = std::string(c.recipe.clip.text("norm") == "2" ? "1" : "2");
  return bits_differ(run(c, subject), run(other, subject), {"clip"});
}

const RegisterLaw registered{{
    .name = "every_norm_clips",
    .family = "clipping",
    .statement = "Clipping by each norm follows its definition, every parameter counted once.",
    .shape = shape,
    .holds = holds,
    .control = "another norm gives another coefficient",
    .differs = differs,
    .weight = 0.75,
}};

}  // namespace
}  // namespace tally::every_norm_clips_law

// Law: a norm over a single parameter, and over a number of them that fills the kernel's batches exactly, is the norm
// of all their elements.
namespace tally::one_parameter_clips_law {
namespace {

/// Parameters the norm takes in one launch on the host (a GPU's takes more), and a weight of more than one of its
/// chunks.
constexpr std::size_t tensors_a_launch = 24;
constexpr std::int64_t wide = 1100;

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  at_least_micro_batches(plan, 2);
  plan.hidden.clear();
  plan.output_bias = false;
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  if (plan.seed % 3 == 1) {  // one more than fills a launch, none with a bias
    for (std::size_t i = 0; i < tensors_a_launch; ++i) {
      plan.hidden.push_back(layer("linear", "fc" + std::to_string(i), {{"out", std::int64_t{2}}, {"bias", false}}));
    }
    plan.input = 2;
  }
  if (plan.seed % 3 == 2) {
    plan.input = wide;
    plan.outputs = 4;
  }
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.0009765625"}}, {"norm", std::string(norms[plan.seed / 3 % 3])}});
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.recipe.clip.options["norm"] = std::string(c.recipe.clip.text("norm") == "2" ? "1" : "2");
  return bits_differ(run(c, subject), run(other, subject), {"clip"});
}

const RegisterLaw registered{{
    .name = "one_parameter_clips",
    .family = "clipping",
    .statement = "The norm of one parameter, and of one more than a launch takes, is the norm of all elements.",
    .shape = shape,
    .holds = holds,
    .control = "another norm gives another coefficient",
    .differs = differs,
    .weight = 0.3,
}};

}  // namespace
}  // namespace tally::one_parameter_clips_law
