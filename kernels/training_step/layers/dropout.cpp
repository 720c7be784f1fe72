#include "kernels/training_step/run_state.hpp"

namespace tally::dropout_steps {
namespace {

DropoutArguments arguments_of(Run& run, LayerState& layer, int k, const void* from, void* to) {
  const double kept = 1 - layer.layer->number("p").to_double();
  return {run.c.precision.storage,
          from,
          static_cast<const std::uint8_t*>(layer.mask.row(run.first_row(k))),
          to,
          run.rows(k) * layer.in,
          static_cast<float>(1 / kept)};
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch("dropout.forward", arguments_of(run, layer, k, run.x_of(layer, k), run.y_of(layer, k)));
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  run.launch("dropout.backward", arguments_of(run, layer, k, run.dy_of(layer, k), run.dx_of(layer, k)));
}

const RegisterLayerSteps registered("dropout", {forward, backward});

}  // namespace
}  // namespace tally::dropout_steps
