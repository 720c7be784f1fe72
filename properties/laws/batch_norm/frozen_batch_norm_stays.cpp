// Law: a frozen BatchNorm normalises by its running values, never moves them, and leaves no gap to the full batch.
#include "oracle/window/gap.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::frozen_batch_norm_stays_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, "frozen");
  plan.normalisation = Normalisation::window_items;
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  for (const Tap& tap : judged.trace.taps()) {
    require(judged.outcome, tap.name.stage != "running_stats", "running_stats", "running_stats",
            tap.name.text() + " was written, though the statistics are frozen");
  }
  judged.outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(judged.outcome, judged.outcome.semantic_gap == 0, "w0/semantic_gap", "forward",
          "frozen statistics leave a gap to the full batch");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case moving = c;
  for (Layer& l : moving.model.layers) {
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("window");
  }
  return bits_differ(run(c, subject), run(moving, subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "frozen_batch_norm_stays",
    .family = "BatchNorm",
    .statement = "A frozen BatchNorm reads its running values, never moves them, and leaves no gap.",
    .shape = shape,
    .holds = holds,
    .control = "statistics of the window give other activations",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::frozen_batch_norm_stays_law
