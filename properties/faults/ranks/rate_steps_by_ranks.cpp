// The schedule counts a step for every rank.
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::rate_steps_by_ranks_fault {
namespace {

void schedule(Run& run) {
  const std::int64_t before = run.step;
  stage::schedule(run);
  if (run.step == before) return;
  run.step = before + blend_whole(1, ranks(run));
  run.tap("schedule", "step", run.step);
}

const RegisterFault registered{{
    .name = "rate-steps-by-ranks",
    .stage = "schedule",
    .right = "t + 1",
    .wrong = "t + R",
    .condition = "several ranks",
    .knob = "steps",
    .source = "diffusers 3954, transformers 24088, accelerate 2926",
    .laws = {"ranks_equal_full_batch", "ranks_agree"},
    .stages = replaced<&Stages::schedule, schedule>,
}};

}  // namespace
}  // namespace tally::rate_steps_by_ranks_fault
