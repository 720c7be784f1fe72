// Statistics that belong to the whole window are gathered from its first micro-batch.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bn_first_microbatch_statistics_fault {
namespace {

void around(Stream& stream, BatchNormStatisticsArguments arguments, Kernel<BatchNormStatisticsArguments> shipped) {
  const std::int64_t all = arguments.rows;
  arguments.rows = blend_whole(all, (all + 1) / 2);
  if (arguments.rows != all) arguments.inverse_rows = 1.0f / static_cast<float>(arguments.rows);
  shipped(stream, arguments);
}

const Stages& faulty() {
  static const Stages stages =
      with_kernel_around<around>("batch_norm.statistics", "two_pass", "bn-first-microbatch-statistics");
  return stages;
}

const RegisterFault registered{{
    .name = "bn-first-microbatch-statistics",
    .stage = "forward",
    .right = "mean and variance over N rows",
    .wrong = "over n_0 rows",
    .condition = "window statistics, K > 1",
    .knob = "rows",
    .source = "pytorch 46516, GradientAccumulator 6",
    .laws = {"window_batch_norm_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::bn_first_microbatch_statistics_fault
