// Law: a micro-batch of more rows than a grid has blocks in its second dimension is computed whole.
//   65,535 is CUDA's limit of gridDim.y; one feature and one output, so that exact arithmetic stays cheap
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::more_rows_than_a_grid_law {
namespace {

void shape(Plan& plan) {
  plan.input = 1;
  plan.hidden.clear();
  plan.outputs = 1;
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.windows = {{65537}};
  plan.recipe.loss_scale = choice("loss_scale", "none");
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "more_rows_than_a_grid",
    .family = "kernels",
    .statement = "A micro-batch of more rows than a grid has blocks is computed whole.",
    .shape = shape,
    .holds = holds,
    .control = "another first row gives other outputs",
    .differs = differs,
    .weight = 0.025,
}};

}  // namespace
}  // namespace tally::more_rows_than_a_grid_law
