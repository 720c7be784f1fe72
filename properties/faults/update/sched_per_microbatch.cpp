// The schedule moves once for every micro-batch.
#include "properties/faults/seeded.hpp"

namespace tally::sched_per_microbatch_fault {
namespace {

void schedule(Run& run) {
  stage::schedule(run);
  if (run.found) return;
  run.step += blend_whole(0, micro_batches(run) - 1);
  run.tap("schedule", "step", run.step);
}

const RegisterFault registered{{
    .name = "sched-per-microbatch",
    .stage = "schedule",
    .right = "t + 1 a window",
    .wrong = "t + K a window",
    .condition = "K > 1",
    .knob = "steps",
    .source = "accelerate 963",
    .laws = {"rate_counts_steps_taken", "rate_follows_its_formula"},
    .stages = replaced<&Stages::schedule, schedule>,
}};

}  // namespace
}  // namespace tally::sched_per_microbatch_fault
