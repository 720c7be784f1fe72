// Law: with statistics over the whole window BatchNorm is the full batch's, forward, backward and running values,
// however the window is cut.
#include "oracle/window/gap.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::window_batch_norm_equals_full_batch_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, "window");
  plan.normalisation = Normalisation::window_items;
  unequal_micro_batches(plan);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  if (outcome.status == Status::not_run) return outcome;
  add(outcome, run_and_check(full_batch_of(c), subject).outcome);
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "forward",
          "statistics over the window leave a gap to the full batch");
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case own = c;
  for (Layer& l : own.model.layers) {
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("micro_batch");
  }
  return bits_differ(run(c, subject), run(own, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "window_batch_norm_equals_full_batch",
    .family = "BatchNorm",
    .statement = "BatchNorm over the whole window equals the full batch, however it is cut.",
    .shape = shape,
    .holds = holds,
    .control = "statistics of each micro-batch give other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::window_batch_norm_equals_full_batch_law
