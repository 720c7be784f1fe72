// Batch norm with statistics of each micro-batch, of the whole window (gathered and differentiated over the group), of a
// micro-step (put together by ranks), or frozen at the running values.
#include "kernels/training_step/run_state.hpp"
#include "kernels/training_step/step_statistics.hpp"

namespace tally::batch_norm_steps {
namespace {

float* values(const DeviceTensor& tensor, std::int64_t place) { return static_cast<float*>(tensor.row(place)); }

/// Where micro-batch k's statistics stand: the window's are shared, and so are those of a micro-step.
std::int64_t place_of(const Run& run, const LayerState& layer, int k) {
  return layer.window_statistics || layer.step_statistics ? 0 : run.slot(k);
}

void gather(Run& run, LayerState& layer, const void* x, std::int64_t rows, std::int64_t place) {
  const BatchNormStatisticsArguments arguments{.storage = run.c.precision.storage,
                                               .x = x,
                                               .running_mean = layer.running_mean.data(),
                                               .running_var = layer.running_var.data(),
                                               .mean = values(layer.mean, place),
                                               .var = values(layer.var, place),
                                               .rstd = values(layer.rstd, place),
                                               .rows = rows,
                                               .features = layer.in,
                                               .inverse_rows = static_cast<float>(1 / static_cast<double>(rows)),
                                               .eps = static_cast<float>(layer.layer->number("eps").to_double()),
                                               .running_format = run.c.precision.master};
  run.launch(layer.frozen ? "batch_norm.frozen_statistics" : "batch_norm.statistics", arguments);
}

void forward(Run& run, LayerState& layer, int k) {
  const std::int64_t place = place_of(run, layer, k);
  if (layer.step_statistics && !run.recomputing) share_statistics(run, layer);
  if (!layer.window_statistics && !layer.step_statistics) gather(run, layer, run.x_of(layer, k), run.rows(k), place);
  run.launch<NormForwardArguments>("batch_norm.forward", {.storage = run.c.precision.storage,
                                                          .x = run.x_of(layer, k),
                                                          .weight = layer.weight ? layer.weight->copy.data() : nullptr,
                                                          .bias = layer.bias ? layer.bias->copy.data() : nullptr,
                                                          .mean = values(layer.mean, place),
                                                          .rstd = values(layer.rstd, place),
                                                          .y = run.y_of(layer, k),
                                                          .rows = run.rows(k),
                                                          .features = layer.in,
                                                          .inverse_features = 0,
                                                          .eps = 0});
}

void group_forward(Run& run, LayerState& layer) {
  gather(run, layer, run.x_of(layer, run.group_begin), run.group_rows(), 0);
}

/// Those of a micro-step are of one group.
float* values_of(const DeviceTensor& sums, const LayerState& layer, std::int64_t place) {
  return layer.step_statistics ? sums.as<float>() : values(sums, place);
}

/// Both column sums over some rows: the parameters' gradients in S, and the fp32 sums that dx needs.
void sum(Run& run, LayerState& layer, int first, std::int64_t rows, std::int64_t place, void* dw, void* db,
         bool keep_sums) {
  const DeviceTensor &dw_sum = layer.step_statistics ? layer.own_first : layer.dw_sum,
                     &db_sum = layer.step_statistics ? layer.own_second : layer.db_sum;
  if (dw == nullptr && !keep_sums) return;
  run.launch<NormGradientArguments>("batch_norm.parameter_gradients",
                                    {.storage = run.c.precision.storage,
                                     .x = run.x_of(layer, first),
                                     .dy = run.dy_of(layer, first),
                                     .mean = values(layer.mean, place),
                                     .rstd = values(layer.rstd, place),
                                     .dw = dw,
                                     .db = db,
                                     .dw_sum = keep_sums ? values_of(dw_sum, layer, place) : nullptr,
                                     .db_sum = keep_sums ? values_of(db_sum, layer, place) : nullptr,
                                     .rows = rows,
                                     .features = layer.in});
}

void group_backward(Run& run, LayerState& layer) {
  sum(run, layer, run.group_begin, run.group_rows(), 0, nullptr, nullptr, true);
}

void backward(Run& run, LayerState& layer, int k) {
  const std::int64_t place = place_of(run, layer, k);
  const bool own_sums = layer.gives_dx && !layer.frozen && !layer.window_statistics;
  sum(run, layer, k, run.rows(k), place, run.gradient_of(layer.weight, k), run.gradient_of(layer.bias, k), own_sums);
  if (!layer.gives_dx) return;
  if (layer.step_statistics) share_gradient_sums(run, layer);
  const std::int64_t counted = layer.window_statistics ? run.group_rows()
                               : layer.step_statistics ? run.step_rows
                                                       : run.rows(k);
  const NormBackwardArguments arguments{.storage = run.c.precision.storage,
                                        .x = run.x_of(layer, k),
                                        .dy = run.dy_of(layer, k),
                                        .weight = layer.weight ? layer.weight->copy.data() : nullptr,
                                        .mean = values(layer.mean, place),
                                        .rstd = values(layer.rstd, place),
                                        .dw_sum = values(layer.dw_sum, place),
                                        .db_sum = values(layer.db_sum, place),
                                        .dx = run.dx_of(layer, k),
                                        .rows = run.rows(k),
                                        .features = layer.in,
                                        .inverse_count = static_cast<float>(1 / static_cast<double>(counted))};
  run.launch(layer.frozen ? "batch_norm.backward_frozen" : "batch_norm.backward", arguments);
}

const RegisterLayerSteps registered("batch_norm", {forward, backward, group_forward, group_backward});

}  // namespace
}  // namespace tally::batch_norm_steps
