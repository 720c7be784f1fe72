// y and rstd, (rms_norm.1) and (rms_norm.2); dw, (rms_norm.4), and dx, (rms_norm.3). The sum before it may take y along,
// and dx the sum's gradient.
#include "kernels/training_step/layers/rms_norm.hpp"

#include "kernels/training_step/add_norm.hpp"

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

const RegisterLayerSteps registered("rms_norm", {normalise, normalise_backward});

}  // namespace
}  // namespace tally
