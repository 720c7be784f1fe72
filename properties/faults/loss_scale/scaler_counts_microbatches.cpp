// The scaler is updated once for every micro-batch.
#include "properties/faults/seeded.hpp"

namespace tally::scaler_counts_microbatches_fault {
namespace {

void scaler(Run& run) {
  for (int k = 0; k < micro_batches(run); ++k) stage::scaler(run);
}

const RegisterFault registered{{
    .name = "scaler-counts-microbatches",
    .stage = "scaler",
    .right = "a window counts once",
    .wrong = "every micro-batch counts",
    .condition = "a dynamic scale, K > 1",
    .knob = "none",
    .source = "pytorch PR 36601",
    .laws = {"clip_once_after_unscale", "overflow_skips_the_window", "scaler_counts_windows"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::scaler_counts_microbatches_fault
