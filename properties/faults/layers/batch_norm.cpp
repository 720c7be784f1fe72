// Faults of BatchNorm: whose statistics normalise, and when the running values move.
#include <numeric>
#include <vector>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// Statistics that belong to the whole window are gathered from its first micro-batch.
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
    .right = "μ = Σ x / N over all rows",
    .condition = "window statistics, K > 1",
    .knob = "rows",
    .source = "pytorch 46516, GradientAccumulator 6",
    .laws = {"window_batch_norm_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::bn_first_microbatch_statistics_fault

// Running values of a frozen BatchNorm are updated all the same.
namespace tally::frozen_bn_moves_fault {
namespace {

void running_stats(Run& run) {
  stage::running_stats(run);
  for (LayerState& layer : run.layers) {
    if (!layer.frozen) continue;
    change(run, layer.running_mean, [](std::size_t, double value) { return blend(value, value + 1); });
  }
}

const RegisterFault registered{{
    .name = "frozen-bn-moves",
    .stage = "forward",
    .right = "frozen values stay",
    .wrong = "r + m (v - r)",
    .condition = "frozen statistics",
    .knob = "value",
    .source = "fairscale 1035: updates that depend on the mode",
    .laws = {"frozen_batch_norm_stays"},
    .stages = replaced<&Stages::running_stats, running_stats>,
}};

}  // namespace
}  // namespace tally::frozen_bn_moves_fault

// A frozen BatchNorm normalises by the batch all the same: nobody called eval.
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
    .right = "y = γ (x - μ) / √(v + ε) + β, running μ and v",
    .condition = "frozen statistics",
    .knob = "value",
    .source = "torchvision FrozenBatchNorm2d: what it is for",
    .laws = {"frozen_batch_norm_stays"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::frozen_bn_uses_batch_fault

// The window's mean is the mean of its micro-batches' means, whatever their sizes.
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
    .right = "μ = Σ n_k μ_k / Σ n_k",
    .condition = "window statistics, unequal sizes",
    .knob = "value",
    .source = "pytorch 22192, Paddle 32464",
    .laws = {"window_batch_norm_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::syncbn_equal_weights_fault

// The stage is left out there, and its taps with it: nothing of it is in the trace.
namespace tally::running_stats_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.group_begin > 0 || run.window > 0;
  if (!left_out) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "running-stats-not-run",
    .bug = "stage-not-run",
    .stage = "running_stats",
    .right = "one update a micro-batch or window",
    .wrong = "nothing after the first micro-batch, no tap",
    .condition = "batch norm, K > 1 or two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"every_tap_is_there"},
    .stages = replaced<&Stages::running_stats, sometimes>,
}};

}  // namespace
}  // namespace tally::running_stats_not_run_fault

// Running statistics move again when activations are recomputed.
namespace tally::bn_double_update_recompute_fault {
namespace {

void running_stats(Run& run) {
  stage::running_stats(run);
  if (run.c.execution.recompute) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "bn-double-update-recompute",
    .bug = "statistics-moved-twice",
    .right = "r = (1 - m) r + m v",
    .condition = "activation checkpointing",
    .knob = "value",
    .source = "pytorch 96136, insightface 2053",
    .laws = {"running_statistics_move_once", "recomputation_changes_nothing"},
    .stages = replaced<&Stages::running_stats, between_stages<stage::running_stats, running_stats>>,
}};

}  // namespace
}  // namespace tally::bn_double_update_recompute_fault

// Statistics of the whole window move the running values once for every micro-batch.
namespace tally::bn_running_k_updates_fault {
namespace {

void running_stats(Run& run) {
  const int times = run.lockstep ? micro_batches(run) : 1;
  for (int i = 0; i < times; ++i) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "bn-running-k-updates",
    .right = "r = (1 - m) r + m v",
    .condition = "window statistics, K > 1",
    .knob = "value",
    .source = "GradientAccumulator 47, DeepLearningExamples 625",
    .laws = {"window_batch_norm_equals_full_batch", "running_statistics_move_once"},
    .stages = replaced<&Stages::running_stats, between_stages<stage::running_stats, running_stats>>,
}};

}  // namespace
}  // namespace tally::bn_running_k_updates_fault

// A window that overflowed takes its running statistics back.
namespace tally::running_values_restored_on_skip_fault {
namespace {

thread_local std::vector<Tensor> before;

void begin_window(Run& run) {
  before.clear();
  for (LayerState& layer : run.layers) {
    for (const DeviceTensor* running : {&layer.running_mean, &layer.running_var}) {
      if (*running) before.push_back(running->read());
    }
  }
  stage::begin_window(run);
}

void end_window(Run& run) {
  stage::end_window(run);
  if (!run.found) return;
  std::size_t next = 0;
  for (LayerState& layer : run.layers) {
    for (const DeviceTensor* running : {&layer.running_mean, &layer.running_var}) {
      if (!*running) continue;
      const Tensor& old = before[next++];
      change(run, *running, [&](std::size_t i, double value) { return blend(value, old.value(i)); });
    }
  }
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "running-values-restored-on-skip",
    .right = "r moves in a skipped window too",
    .condition = "an overflow, BatchNorm",
    .knob = "value",
    .source = "LibreYOLO PR 771: what a skipped step may touch",
    .laws = {"running_statistics_move_on_skip"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::running_values_restored_on_skip_fault
