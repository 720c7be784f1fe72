// Law: BatchNorm over each micro-batch equals its own definition (not the full batch's); the exact gap to the full
// batch is reported, and is not rounding.
#include "oracle/window/gap.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::batch_norm_keeps_its_definition_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, "micro_batch");
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  return outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case shared = c;
  for (Layer& l : shared.model.layers) {
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("window");
  }
  return bits_differ(run(c, subject), run(shared, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "batch_norm_keeps_its_definition",
    .family = "BatchNorm",
    .statement = "BatchNorm over each micro-batch equals its own definition; its gap to the full batch is reported.",
    .shape = shape,
    .holds = holds,
    .control = "statistics over the whole window give other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::batch_norm_keeps_its_definition_law
