// Law: clipping acts once a window, after accumulation and unscaling, on the global norm over all parameters.
//   coefficient = min(1, max_norm / (norm + eps));  a clip far above the norm changes no bit
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
