// y and rstd, (rms_norm.1) and (rms_norm.2); dw, (rms_norm.4), and dx, (rms_norm.3).
#include "kernels/training_step/run_state.hpp"

namespace tally {
namespace {

float inverse(std::int64_t features) { return static_cast<float>(1 / static_cast<double>(features)); }
float offset(const LayerState& layer) { return static_cast<float>(layer.layer->number("offset").to_double()); }
float* rstd(const Run& run, const LayerState& layer, int k) { return static_cast<float*>(run.rows_of(layer.rstd, k)); }

void forward(Run& run, LayerState& layer, int k) {
  run.launch<NormForwardArguments>("rms_norm.forward",
                                   {.storage = run.c.precision.storage,
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
                                    .offset = offset(layer)});
}

void backward(Run& run, LayerState& layer, int k) {
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
  run.launch<NormBackwardArguments>("rms_norm.backward", {.storage = run.c.precision.storage,
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
                                                          .offset = offset(layer)});
}

const RegisterLayerSteps registered("rms_norm", {forward, backward});

}  // namespace
}  // namespace tally
