// How a step runs the norms.
#include "kernels/norm/norm_steps.hpp"

#include "kernels/training_step/run/run_state.hpp"
#include "oracle/case/kinds.hpp"

// Batch norm with statistics of each micro-batch, of the whole window (gathered and differentiated over the group), of a
// micro-step (put together by ranks), or frozen at the running values.
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

const RegisterKind<LayerSteps> registered("batch_norm", {forward, backward, group_forward, group_backward});

}  // namespace
}  // namespace tally::batch_norm_steps

namespace tally::layer_norm_steps {
namespace {

float* values(const DeviceTensor& tensor, const Run& run, int k) {
  return static_cast<float*>(tensor.row(run.first_row_alive(k)));
}

float inverse(std::int64_t features) { return static_cast<float>(1 / static_cast<double>(features)); }

void forward(Run& run, LayerState& layer, int k) {
  run.launch<NormForwardArguments>("layer_norm.forward",
                                   {.storage = run.c.precision.storage,
                                    .x = run.x_of(layer, k),
                                    .weight = layer.weight ? layer.weight->copy.data() : nullptr,
                                    .bias = layer.bias ? layer.bias->copy.data() : nullptr,
                                    .mean = values(layer.mean, run, k),
                                    .rstd = values(layer.rstd, run, k),
                                    .y = run.y_of(layer, k),
                                    .rows = run.rows(k),
                                    .features = layer.in,
                                    .inverse_features = inverse(layer.in),
                                    .eps = static_cast<float>(layer.layer->number("eps").to_double())});
}

void backward(Run& run, LayerState& layer, int k) {
  if (layer.trained_weight() != nullptr) {
    run.launch<NormGradientArguments>("layer_norm.parameter_gradients", {.storage = run.c.precision.storage,
                                                                         .x = run.x_of(layer, k),
                                                                         .dy = run.dy_of(layer, k),
                                                                         .mean = values(layer.mean, run, k),
                                                                         .rstd = values(layer.rstd, run, k),
                                                                         .dw = run.gradient_of(layer.weight, k),
                                                                         .db = run.gradient_of(layer.bias, k),
                                                                         .dw_sum = nullptr,
                                                                         .db_sum = nullptr,
                                                                         .rows = run.rows(k),
                                                                         .features = layer.in});
  }
  if (!layer.gives_dx) return;
  run.launch<NormBackwardArguments>("layer_norm.backward",
                                    {.storage = run.c.precision.storage,
                                     .x = run.x_of(layer, k),
                                     .dy = run.dy_of(layer, k),
                                     .weight = layer.weight ? layer.weight->copy.data() : nullptr,
                                     .mean = values(layer.mean, run, k),
                                     .rstd = values(layer.rstd, run, k),
                                     .dw_sum = nullptr,
                                     .db_sum = nullptr,
                                     .dx = run.dx_of(layer, k),
                                     .rows = run.rows(k),
                                     .features = layer.in,
                                     .inverse_count = inverse(layer.in)});
}

const RegisterKind<LayerSteps> registered("layer_norm", {forward, backward});

}  // namespace
}  // namespace tally::layer_norm_steps

// y and rstd, (rms_norm.1) and (rms_norm.2); dw, (rms_norm.4), and dx, (rms_norm.3). The sum before it may take y along,
// and dx the sum's gradient.
namespace tally {
namespace {

float inverse(std::int64_t features) { return static_cast<float>(1 / static_cast<double>(features)); }
float offset(const LayerState& layer) { return static_cast<float>(layer.layer->number("offset").to_double()); }
float* rstd(const Run& run, const LayerState& layer, int k) { return static_cast<float*>(run.rows_of(layer.rstd, k)); }

}  // namespace

NormForwardArguments rms_norm_forward(const Run& run, const LayerState& layer, int k) {
  return {.storage = run.c.precision.storage,
          .x = run.x_of(layer, k),
          .weight = layer.weight ? layer.weight->copy.data() : nullptr,
          .bias = nullptr,
          .mean = nullptr,
          .rstd = rstd(run, layer, k),
          .y = run.y_of(layer, k),
          .rows = run.rows(k),
          .features = layer.in,
          .inverse_features = inverse(layer.in),
          .eps = static_cast<float>(layer.layer->number("eps").to_double()),
          .offset = offset(layer)};
}

namespace {

void normalise(Run& run, LayerState& layer, int k) {
  if (sum_normalised_by(run, layer) != nullptr) return;
  run.launch<NormForwardArguments>("rms_norm.forward", rms_norm_forward(run, layer, k));
}

void normalise_backward(Run& run, LayerState& layer, int k) {
  if (layer.trained_weight() != nullptr) {
    run.launch<NormGradientArguments>("rms_norm.weight_gradient", {.storage = run.c.precision.storage,
                                                                   .x = run.x_of(layer, k),
                                                                   .dy = run.dy_of(layer, k),
                                                                   .mean = nullptr,
                                                                   .rstd = rstd(run, layer, k),
                                                                   .dw = run.gradient_of(layer.weight, k),
                                                                   .db = nullptr,
                                                                   .dw_sum = nullptr,
                                                                   .db_sum = nullptr,
                                                                   .rows = run.rows(k),
                                                                   .features = layer.in});
  }
  if (!layer.gives_dx) return;
  const NormBackwardArguments arguments{.storage = run.c.precision.storage,
                                        .x = run.x_of(layer, k),
                                        .dy = run.dy_of(layer, k),
                                        .weight = layer.weight ? layer.weight->copy.data() : nullptr,
                                        .mean = nullptr,
                                        .rstd = rstd(run, layer, k),
                                        .dw_sum = nullptr,
                                        .db_sum = nullptr,
                                        .dx = run.dx_of(layer, k),
                                        .rows = run.rows(k),
                                        .features = layer.in,
                                        .inverse_count = inverse(layer.in),
                                        .offset = offset(layer)};
  const LayerState* sum = sum_added_back_by(run, layer);
  if (sum == nullptr) return run.launch("rms_norm.backward", arguments);
  const AddNormBackwardArguments both{arguments, run.given_by(sum->readers.back(), k), run.dy_of(*sum, k)};
  run.launch(add_norm_backward_operation, both);
}

const RegisterKind<LayerSteps> registered("rms_norm", {normalise, normalise_backward});

/// Where a sum and a norm stand one behind the other, the norm; nullptr: they do not.
LayerState* norm_behind(Run& run, const LayerState& sum) {
  const std::size_t next = sum.index + 1;
  if (sum.layer->kind != kinds::add || sum.inputs.size() != 2 || next >= run.layers.size()) return nullptr;
  LayerState& norm = run.layers[next];
  const bool reads_it = norm.inputs.front() == static_cast<LayerInput>(sum.index);
  return norm.layer->kind == kinds::rms_norm && reads_it ? &norm : nullptr;
}

bool fuses(const Run& run, const char* operation, const char* norm) {
  return run.kernels.has(operation) && run.kernels.claim(norm).variant == "row_lanes" && run.options.follow == nullptr;
}

LayerState* sum_before(Run& run, const LayerState& norm, LayerState* (*norm_of)(Run&, const LayerState&)) {
  if (norm.index == 0) return nullptr;
  LayerState& sum = run.layers[norm.index - 1];
  return norm_of(run, sum) == nullptr ? nullptr : &sum;
}

}  // namespace

LayerState* norm_added_to(Run& run, const LayerState& sum) {
  LayerState* const norm = fuses(run, add_norm_operation, "rms_norm.forward") ? norm_behind(run, sum) : nullptr;
  return norm != nullptr && sum.elsewhere != norm->elsewhere ? nullptr : norm;
}

LayerState* sum_normalised_by(Run& run, const LayerState& norm) { return sum_before(run, norm, norm_added_to); }

LayerState* norm_adding_back_to(Run& run, const LayerState& sum) {
  if (!sum.dy || sum.readers.size() != 2 || !fuses(run, add_norm_backward_operation, "rms_norm.backward"))
    return nullptr;
  return norm_behind(run, sum);
}

LayerState* sum_added_back_by(Run& run, const LayerState& norm) { return sum_before(run, norm, norm_adding_back_to); }

}  // namespace tally
