// The learning rate, fixed from the step count when a window starts, and the count itself, which moves with steps
// really taken. Binary64 on the host, as frameworks keep it.
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void fix_learning_rate(Run& run) {
  const Choice& schedule = run.c.recipe.learning_rate;
  run.learning_rate = schedule_steps(schedule).rate(schedule, run.step);
}

void schedule(Run& run) {
  run.tap("schedule", "in.step", run.step);
  run.tap("schedule", "in.found", run.found_flag.data(), Dtype::u8, {});
  if (!run.found) ++run.step;
  run.tap("schedule", "step", run.step);
  run.tap("schedule", "learning_rate", static_cast<float>(run.learning_rate));
}

}  // namespace tally::stage
