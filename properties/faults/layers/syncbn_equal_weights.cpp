// The window's mean is the mean of its micro-batches' means, whatever their sizes.
#include <numeric>
#include <vector>

#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::syncbn_equal_weights_fault {
namespace {

/// The first row of the window, and the rows of its micro-batches: what the gathering of statistics is cut by.
thread_local std::vector<std::int64_t> cut;

void around(Stream& stream, BatchNormStatisticsArguments arguments, Kernel<BatchNormStatisticsArguments> shipped) {
  shipped(stream, arguments);
  if (std::accumulate(cut.begin(), cut.end(), std::int64_t{0}) != arguments.rows) return;  // not of a whole window
  const std::size_t features = static_cast<std::size_t>(arguments.features), width = size_of(arguments.storage);
  std::vector<double> mean(features, 0);
  Tensor x(arguments.storage, {arguments.rows, arguments.features});
  stream.synchronize();
  stream.device().read(arguments.x, x.bytes.data(), features * width * static_cast<std::size_t>(arguments.rows));
  std::size_t row = 0;
  for (const std::int64_t rows : cut) {
    const double weight = 1 / (static_cast<double>(rows) * static_cast<double>(cut.size()));
    for (const std::size_t end = row + static_cast<std::size_t>(rows); row < end; ++row) {
      for (std::size_t i = 0; i < features; ++i) mean[i] += weight * x.value(row * features + i);
    }
  }
  change(stream.device(), arguments.mean, Dtype::fp32, arguments.features,
         [&](std::size_t i, double value) { return blend(value, mean[i]); });
}

void forward(Run& run) {
  cut = run.c.windows[static_cast<std::size_t>(run.window)];
  stage::forward(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = with_kernel_around<around>("batch_norm.statistics", "two_pass", "syncbn-equal-weights");
    copy.forward = forward;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "syncbn-equal-weights",
    .stage = "forward",
    .right = "Σ n_k μ_k / Σ n_k",
    .wrong = "Σ μ_k / K",
    .condition = "window statistics, unequal sizes",
    .knob = "value",
    .source = "pytorch 22192, Paddle 32464",
    .laws = {"window_batch_norm_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::syncbn_equal_weights_fault
