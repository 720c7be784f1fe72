// Running values of batch norm, after the group's forward: once for every micro-batch with its own statistics, or a
// micro-step's on every rank, once for the window with window statistics, never when frozen. Recomputation does not come here.
#include "kernels/training_step/stages.hpp"

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
    if (layer.layer->kind != "batch_norm" || layer.frozen) continue;
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
