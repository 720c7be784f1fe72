// A frozen BatchNorm normalises by the batch all the same: nobody called eval.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::frozen_bn_uses_batch_fault {
namespace {

void around(Stream& stream, BatchNormStatisticsArguments arguments, Kernel<BatchNormStatisticsArguments> shipped) {
  const auto by_batch =
      kernel<BatchNormStatisticsArguments>("batch_norm.statistics", stream.device().kind(), "two_pass");
  const std::int64_t n = arguments.features;
  between(
      stream, {{arguments.mean, Dtype::fp32, n}, {arguments.var, Dtype::fp32, n}, {arguments.rstd, Dtype::fp32, n}},
      [&] { shipped(stream, arguments); }, [&] { by_batch(stream, arguments); });
}

const Stages& faulty() {
  static const Stages stages =
      with_kernel_around<around>("batch_norm.frozen_statistics", "grid_stride", "frozen-bn-uses-batch");
  return stages;
}

const RegisterFault registered{{
    .name = "frozen-bn-uses-batch",
    .stage = "forward",
    .right = "running mean and variance",
    .wrong = "mean and variance of the batch",
    .condition = "frozen statistics",
    .knob = "value",
    .source = "torchvision FrozenBatchNorm2d: what it is for",
    .laws = {"frozen_batch_norm_stays"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::frozen_bn_uses_batch_fault
