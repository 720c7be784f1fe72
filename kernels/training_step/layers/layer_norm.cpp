#include "kernels/training_step/run_state.hpp"

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

const RegisterLayerSteps registered("layer_norm", {forward, backward});

}  // namespace
}  // namespace tally::layer_norm_steps
