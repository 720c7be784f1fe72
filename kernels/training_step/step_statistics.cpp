#include "kernels/training_step/step_statistics.hpp"

#include "kernels/batch_norm/step_arguments.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/micro_steps.hpp"

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

}  // namespace tally
