// Statistics of batch norm beside its own rows: a micro-step's on one rank, and the running values.
#include "kernels/norm/batch_norm_of_ranks.hpp"
#include "kernels/norm/norm_steps.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

void zero(Run& run, LayerState& layer) {
  layer.own_first.zero_on(run.stream);
  layer.own_second.zero_on(run.stream);
}

void tap_own(Run& run, const LayerState& layer, const char* first, const char* second) {
  run.tap("forward", layer.label + "." + first, layer.own_first);
  if (second != nullptr) run.tap("forward", layer.label + "." + second, layer.own_second);
}

void work_out_moments(Run& run, LayerState& layer) {
  const std::int64_t rows = run.rows(run.micro_batch);
  run.launch<BatchNormStatisticsArguments>("batch_norm.statistics",
                                           {.storage = run.c.precision.storage,
                                            .x = run.x_of(layer, run.micro_batch),
                                            .running_mean = layer.running_mean.data(),
                                            .running_var = layer.running_var.data(),
                                            .mean = layer.own_first.as<float>(),
                                            .var = layer.own_second.as<float>(),
                                            .rstd = layer.rstd.as<float>(),  // of no use before all have met
                                            .rows = rows,
                                            .features = layer.in,
                                            .inverse_rows = static_cast<float>(1 / static_cast<double>(rows)),
                                            .eps = static_cast<float>(layer.layer->number("eps").to_double()),
                                            .running_format = run.c.precision.master});
}

void work_out_sums(Run& run, LayerState& layer, const float* mean, float* sum, float* squares) {
  run.launch<StepSumsArguments>("batch_norm.step_sums", {.storage = run.c.precision.storage,
                                                         .x = run.x_of(layer, run.micro_batch),
                                                         .mean = mean,
                                                         .sum = sum,
                                                         .squares = squares,
                                                         .rows = run.rows(run.micro_batch),
                                                         .features = layer.in});
}

}  // namespace

void share_statistics(Run& run, LayerState& layer) {
  const StepStatistics by = step_statistics_of(run.c);
  float *const first = layer.own_first.as<float>(), *const second = layer.own_second.as<float>();
  zero(run, layer);
  if (run.has_micro_batch() && by == StepStatistics::moments) {
    work_out_moments(run, layer);
    tap_own(run, layer, "mean", "var");
  } else if (run.has_micro_batch()) {
    const bool in_one_pass = by == StepStatistics::sums;
    work_out_sums(run, layer, nullptr, first, in_one_pass ? second : nullptr);
    tap_own(run, layer, "sum", in_one_pass ? "sum_squares" : nullptr);
  }
  run.stages.sync_statistics(run, layer, StepPart::statistics);
  if (by != StepStatistics::two_pass) return;
  zero(run, layer);
  if (run.has_micro_batch()) {
    work_out_sums(run, layer, layer.mean.as<float>(), nullptr, first);
    tap_own(run, layer, "squares", nullptr);
  }
  run.stages.sync_statistics(run, layer, StepPart::squares);
}

void share_gradient_sums(Run& run, LayerState& layer) {
  if (run.has_micro_batch()) {
    run.tap("backward", layer.label + ".sum_dy", layer.own_second);
    run.tap("backward", layer.label + ".sum_dy_h", layer.own_first);
  } else {
    zero(run, layer);
  }
  run.stages.sync_statistics(run, layer, StepPart::gradients);
}

namespace {

constexpr int root = 0;

void hand_over(Run& run, const std::string& name, const DeviceTensor& values) {
  Link& link = *run.options.link;
  const std::string about = "w" + std::to_string(run.window) + "/broadcast, " + name;
  if (link.rank() == root) {
    run.tap("running_stats", "in.broadcast." + name, values);
    const Tensor own = values.read();
    for (int to = root + 1; to < link.size(); ++to) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  } else {
    Tensor first(values.dtype, values.shape);
    link.receive(root, about, {first.bytes.data(), first.bytes.size()});
    run.device.write(values.data(), first.bytes.data(), first.bytes.size());
  }
  run.tap("running_stats", "broadcast." + name, values);
}

}  // namespace

void take_first_running(Run& run) {
  if (run.options.link == nullptr) return;
  for (const LayerState& layer : run.layers) {
    if (layer.elsewhere || !takes_first_running(run.c, *layer.layer)) continue;
    hand_over(run, layer.label + ".running_mean", layer.running_mean);
    hand_over(run, layer.label + ".running_var", layer.running_var);
  }
}

}  // namespace tally

// Running values of batch norm, after the group's forward: once for every micro-batch with its own statistics, or a
// micro-step's on every rank, once for the window with window statistics, never when frozen. Recomputation does not come here.
namespace tally::stage {
namespace {

/// Both running values, by the statistics in `place` over `rows` rows.
void move(Run& run, LayerState& layer, std::int64_t place, std::int64_t rows) {
  const double momentum = layer.layer->number("momentum").to_double();
  const auto move_one = [&](const char* name, DeviceTensor& running, const DeviceTensor& batch, const char* batch_name,
                            double correction) {
    run.tap("running_stats", "in." + layer.label + name, running);
    run.tap("running_stats", "in." + layer.label + batch_name, batch.row(place), Dtype::fp32, {layer.in});
    run.launch<RunningStatsArguments>(
        "running_stats",
        {running.data(), static_cast<const float*>(batch.row(place)), layer.in, static_cast<float>(momentum),
         static_cast<float>(1 - momentum), static_cast<float>(correction), running.dtype});
    run.tap("running_stats", layer.label + name, running);
  };
  const auto n = static_cast<double>(rows);
  move_one(".running_mean", layer.running_mean, layer.mean, ".mean", 1);
  move_one(".running_var", layer.running_var, layer.var, ".var", n / (n - 1));
}

}  // namespace

void running_stats(Run& run) {
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {
    LayerState& layer = run.layers[i];
    if (layer.layer->kind != kinds::batch_norm || layer.frozen) continue;
    if (layer.window_statistics) {
      move(run, layer, 0, run.group_rows());
      continue;
    }
    if (layer.step_statistics) {
      run.micro_batch = run.group_begin;
      move(run, layer, 0, run.step_rows);
      run.micro_batch = -1;
      continue;
    }
    for (int k = run.group_begin; k < run.group_end; ++k) {
      run.micro_batch = k;
      move(run, layer, run.slot(k), run.rows(k));
    }
    run.micro_batch = -1;
  }
}

}  // namespace tally::stage
