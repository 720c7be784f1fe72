// Law: growth and backoff of the loss scale count windows, not micro-batches: after growth_interval clean windows it
// doubles, after an overflow it halves and the count starts again.
//   found: S / 2, count 0;   else count + 1, at the interval 2 S and count 0
#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
