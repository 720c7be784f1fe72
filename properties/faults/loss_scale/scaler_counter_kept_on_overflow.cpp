// The count of clean windows goes on through an overflow.
#include "properties/faults/seeded.hpp"

namespace tally::scaler_counter_kept_on_overflow_fault {
namespace {

void scaler(Run& run) {
  const auto clean = run.growth_counter.scalar<std::int64_t>();
  stage::scaler(run);
  if (!run.found) return;
  run.growth_counter.set_scalar(clean + 1);
  run.tap("scaler", "growth_counter", run.growth_counter);
}

const RegisterFault registered{{
    .name = "scaler-counter-kept-on-overflow",
    .stage = "scaler",
    .right = "the count returns to 0",
    .wrong = "the count stays",
    .condition = "an overflow, then growth",
    .knob = "none",
    .source = "pytorch PR 36601: the scaler's update",
    .laws = {"scaler_counts_windows"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::scaler_counter_kept_on_overflow_fault
