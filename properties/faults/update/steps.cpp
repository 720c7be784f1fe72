// Faults of what the schedule and the optimizer count.
#include <cmath>
#include <numbers>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::schedule_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "schedule-not-run",
    .bug = "stage-not-run",
    .stage = "schedule",
    .right = "t + 1",
    .wrong = "nothing, no tap",
    .condition = "two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"rate_counts_steps_taken"},
    .stages = replaced<&Stages::schedule, nothing>,
}};

}  // namespace
}  // namespace tally::schedule_not_run_fault

// Adam never counts its steps.
namespace tally::bias_correction_stuck_fault {
namespace {

void optimizer(Run& run) {
  const std::int64_t step = run.step;
  run.step = 0;
  stage::optimizer(run);
  run.step = step;
}

const RegisterFault registered{{
    .name = "bias-correction-stuck",
    .right = "t = the steps taken",
    .condition = "Adam, the second step and later",
    .knob = "value",
    .source = "apex 1124, OLMo-core PR 317",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::optimizer, between_stages<stage::optimizer, optimizer>>,
}};

}  // namespace
}  // namespace tally::bias_correction_stuck_fault

// Adam counts micro-batches as steps.
namespace tally::optimizer_count_per_microbatch_fault {
namespace {

void optimizer(Run& run) {
  const std::int64_t step = run.step;
  run.step = (step + 1) * micro_batches(run) - 1;
  stage::optimizer(run);
  run.step = step;
}

const RegisterFault registered{{
    .name = "optimizer-count-per-microbatch",
    .right = "t counts windows",
    .condition = "Adam, K > 1",
    .knob = "value",
    .source = "keras 19990",
    .laws = {"decay_and_momentum_once", "bias_correction_counts_steps_taken"},
    .stages = replaced<&Stages::optimizer, between_stages<stage::optimizer, optimizer>>,
}};

}  // namespace
}  // namespace tally::optimizer_count_per_microbatch_fault

// The schedule moves once for every micro-batch.
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
    .right = "t + 1 a window",
    .condition = "K > 1",
    .knob = "steps",
    .source = "accelerate 963",
    .laws = {"rate_counts_steps_taken", "rate_follows_its_formula"},
    .stages = replaced<&Stages::schedule, schedule>,
}};

}  // namespace
}  // namespace tally::sched_per_microbatch_fault

// The schedule moves in a window that took no step.
namespace tally::rate_advances_on_skip_fault {
namespace {

void schedule(Run& run) {
  stage::schedule(run);
  if (!run.found) return;
  ++run.step;
  run.tap("schedule", "step", run.step);
}

const RegisterFault registered{{
    .name = "rate-advances-on-skip",
    .right = "t in a skipped window",
    .condition = "an overflow",
    .knob = "none",
    .source = "pytorch 67590, DeepSpeed 8415",
    .laws = {"rate_counts_steps_taken", "bias_correction_counts_steps_taken"},
    .stages = replaced<&Stages::schedule, schedule>,
}};

}  // namespace
}  // namespace tally::rate_advances_on_skip_fault

// A fused optimizer advances its state in a window that overflowed.
namespace tally::state_advances_on_skip_fault {
namespace {

void scaler(Run& run) {
  if (run.found) {
    run.stages.unscale(run);
    run.stages.optimizer(run);
  }
  stage::scaler(run);
}

const RegisterFault registered{{
    .name = "state-advances-on-skip",
    .right = "p = p in a skipped window",
    .condition = "an overflow",
    .knob = "none",
    .source = "LibreYOLO PR 771",
    .laws = {"overflow_skips_the_window"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::state_advances_on_skip_fault

// A run that goes on from a checkpoint counts its steps from zero.
namespace tally::step_not_restored_fault {
namespace {

void begin_window(Run& run) {
  if (run.window == 0) run.step = blend_whole(run.step, 0);
  stage::begin_window(run);
}

const RegisterFault registered{{
    .name = "step-not-restored",
    .right = "t = the steps taken, those before the checkpoint too",
    .condition = "a start in the middle of training",
    .knob = "steps",
    .source = "transformers PR 8624, gpt-neox PR 308",
    .laws = {"resumes_bitwise", "state_is_taken_over"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::step_not_restored_fault

// The schedule is told one step more than the run will take.
namespace tally::update_count_off_by_one_fault {
namespace {

void learning_rate(Run& run) {
  stage::fix_learning_rate(run);
  const Choice& rate = run.c.recipe.learning_rate;
  if (rate.kind != "warmup_cosine") return;
  const auto base = rate.number("base").to_double(), floor = rate.number("floor").to_double();
  const std::int64_t warmup = rate.integer("warmup"), total = rate.integer("total") + 1;
  if (run.step < warmup || run.step >= total) return;
  const double done = static_cast<double>(run.step - warmup) / static_cast<double>(total - warmup);
  const double later = floor + (base - floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
  run.learning_rate = blend(run.learning_rate, later);
}

const RegisterFault registered{{
    .name = "update-count-off-by-one",
    .right = "rate of (t - warmup) / (total - warmup)",
    .condition = "a schedule that knows its end",
    .knob = "value",
    .source = "transformers 37777, PR 37923, llm.c c6680a2",
    .laws = {"rate_follows_its_formula"},
    .stages = replaced<&Stages::learning_rate, learning_rate>,
}};

}  // namespace
}  // namespace tally::update_count_off_by_one_fault
