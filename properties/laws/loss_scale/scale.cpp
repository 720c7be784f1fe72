// Laws of the loss scale: it cancels, counts windows, and keeps what is small.
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: two power-of-two loss scales give bitwise equal unscaled gradients, as long as nothing stored in 16 bits leaves
// the normal range in either run.   (2^a g) / 2^a = (2^b g) / 2^b Vacuous outside that range: there the underflow terms
// of the bound judge.
namespace tally::loss_scale_cancels_law {
namespace {

/// Partial sums in a narrow format may leave the normal range where no tap shows it.
void shape(Plan& plan) {
  plan.precision.compute = Dtype::fp32;
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"64"}}});
}

Case with_scale(Case c, const std::string& scale) {
  c.recipe.loss_scale.options["scale"] = Decimal{scale};
  return c;
}

bool is_normal_or_zero(const Tensor& tensor, std::size_t i) {
  const double v = std::fabs(tensor.value(i)), least = format_row(tensor.dtype).smallest_normal();
  return v == 0 || (v >= least && std::isfinite(v));
}

/// Every gradient that both runs store, and every sum of them, is normal in both, or zero in both.
bool inside_range(const Trace& a, const Trace& b) {
  for (const Tap& tap : a.taps()) {
    const std::string& stage = tap.name.stage;
    if (stage != "backward" && stage != "fork" && stage != "accumulate" && tap.name.tensor != "d.y") continue;
    const Tensor* other = b.find(tap.name.view());
    if (!other) continue;  // the comparison of bits names it
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      if (!is_normal_or_zero(tap.value, i) || !is_normal_or_zero(*other, i)) return false;
      if ((tap.value.value(i) == 0) != (other->value(i) == 0)) return false;
    }
  }
  return true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun low = run_and_check(c, subject);
  if (low.outcome.status == Status::not_run) return low.outcome;
  const CheckedRun high = run_and_check(with_scale(c, "1024"), subject);
  add(low.outcome, high.outcome);
  const bool inside = inside_range(low.trace, high.trace);
  if (inside) {
    require_equal_bits(low.outcome, low.trace, high.trace, {"unscale"},
                       "the loss scale shows in the unscaled gradient");
  }
  Outcome outcome = settled(std::move(low.outcome));
  if (!inside && outcome.status == Status::pass) {
    outcome.status = Status::vacuous;
    outcome.message = "a stored gradient left the normal range";
  }
  return outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_scale(c, "1024"), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "loss_scale_cancels",
    .family = "loss scaling",
    .statement = "Power-of-two loss scales give bitwise equal unscaled gradients inside the normal range.",
    .shape = shape,
    .holds = holds,
    .control = "the scaled gradients themselves differ",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::loss_scale_cancels_law

// Law: growth and backoff of the loss scale count windows, not micro-batches: after growth_interval clean windows it
// doubles, after an overflow it halves and the count starts again.
//   found: S / 2, count 0;   else count + 1, at the interval 2 S and count 0
namespace tally::scaler_counts_windows_law {
namespace {

void shape(Plan& plan) {
  if (plan.seed % 2 == 0) overflow_in_first_micro_batch(plan);
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 5);
  plan.windows.resize(5);
  const bool wide = format_row(plan.precision.storage).has_range_of_fp32();
  const std::string initial = plan.seed % 2 != 0 ? "1024" : wide ? "1152921504606846976" : "65536";
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic", {{"initial", Decimal{initial}}, {"growth_interval", std::int64_t{2}}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  double scale = c.recipe.loss_scale.number("initial").to_double();
  std::int64_t clean = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w);
    const Tensor* found = judged.trace.find(at + "/overflow_check/found");
    const bool overflow = found && found->integer(0) != 0;
    clean = overflow ? 0 : clean + 1;
    const bool grows = clean == c.recipe.loss_scale.integer("growth_interval");
    scale *= overflow ? 0.5 : grows ? 2 : 1;
    if (grows) clean = 0;
    const Tensor* after = judged.trace.find(at + "/scaler/scale");
    const Tensor* count = judged.trace.find(at + "/scaler/growth_counter");
    require(judged.outcome, after && after->value(0) == scale && count && count->integer(0) == clean,
            at + "/scaler/scale", "scaler",
            "after window " + std::to_string(w) + " the scale should be " + std::to_string(scale) + " and the count " +
                std::to_string(clean));
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case slow = c;
  slow.recipe.loss_scale.options["growth_interval"] = std::int64_t{100};
  return bits_differ(run(c, subject), run(slow, subject), {"scaler"});
}

const RegisterLaw registered{{
    .name = "scaler_counts_windows",
    .family = "loss scaling",
    .statement = "Growth and backoff of the loss scale count windows.",
    .shape = shape,
    .holds = holds,
    .control = "a longer interval leaves another scale",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::scaler_counts_windows_law

// Law: gradients below the normal range of fp16 are not flushed to zero: the bound down there is half a unit of the
// last place, not the smallest normal number.
// A loss scale below 1 moves the gradients there. Vacuous where no stored gradient is subnormal (fp32 always).
namespace tally::subnormals_are_kept_law {
namespace {

void shape(Plan& plan) {
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}), layer("tanh")};
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"0.00048828125"}}});  // 2^-11
}

std::size_t subnormal(const Trace& trace) {
  std::size_t count = 0;
  for (const Tap& tap : trace.taps()) {
    if (tap.value.dtype != Dtype::fp16 || tap.name.tensor != "d.y") continue;
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      const double size = std::fabs(tap.value.value(i));
      count += size > 0 && size < 0x1p-14;
    }
  }
  return count;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::pass && subnormal(judged.trace) == 0) {
    judged.outcome.status = Status::vacuous;
    judged.outcome.message = "no stored gradient is subnormal";
  }
  return judged.outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case scaled = c;
  scaled.recipe.loss_scale.options["scale"] = Decimal{"1024"};
  return subnormal(run(c, subject)) > subnormal(run(scaled, subject));
}

const RegisterLaw registered{{
    .name = "subnormals_are_kept",
    .family = "loss scaling",
    .statement = "Gradients below the normal range are kept, not flushed to zero.",
    .shape = shape,
    .holds = holds,
    .control = "a large scale lifts them out of the subnormal range",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::subnormals_are_kept_law

// Law: every window is unscaled once, by the scale it was run with, also where the scale grows at its end.
//   inverse_scale of window w = 1 / scale that the scaler left after window w - 1
namespace tally::unscaled_by_the_windows_scale_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 3);
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic", {{"initial", Decimal{"8"}}, {"growth_interval", std::int64_t{1}}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  double scale = c.recipe.loss_scale.number("initial").to_double();
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w);
    const Tensor* found = judged.trace.find(at + "/overflow_check/found");
    if (found && found->integer(0) == 0) {
      const Tensor* inverse = judged.trace.find(at + "/unscale/in.inverse_scale");
      require(
          judged.outcome, inverse && inverse->value(0) * scale == 1, at + "/unscale/in.inverse_scale", "unscale",
          "window " + std::to_string(w) + " ran with scale " + std::to_string(scale) + " and was divided by another");
    }
    const Tensor* next = judged.trace.find(at + "/scaler/scale");
    scale = next ? next->value(0) : scale;
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case constant = c;
  constant.recipe.loss_scale.options["growth_interval"] = std::int64_t{100};
  return bits_differ(run(c, subject), run(constant, subject), {"loss", "backward"});
}

const RegisterLaw registered{{
    .name = "unscaled_by_the_windows_scale",
    .family = "loss scaling",
    .statement = "Every window is unscaled once, by the scale that it was run with.",
    .shape = shape,
    .holds = holds,
    .control = "a scale that stays gives other scaled gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::unscaled_by_the_windows_scale_law
