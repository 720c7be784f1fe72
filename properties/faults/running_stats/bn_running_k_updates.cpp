// Statistics of the whole window move the running values once for every micro-batch.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bn_running_k_updates_fault {
namespace {

void running_stats(Run& run) {
  const int times = run.lockstep ? micro_batches(run) : 1;
  for (int i = 0; i < times; ++i) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "bn-running-k-updates",
    .stage = "running_stats",
    .right = "momentum m once a window",
    .wrong = "1 - (1 - m)^K",
    .condition = "window statistics, K > 1",
    .knob = "value",
    .source = "GradientAccumulator 47, DeepLearningExamples 625",
    .laws = {"window_batch_norm_equals_full_batch", "running_statistics_move_once"},
    .stages = replaced<&Stages::running_stats, between_stages<stage::running_stats, running_stats>>,
}};

}  // namespace
}  // namespace tally::bn_running_k_updates_fault
