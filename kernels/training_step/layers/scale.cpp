// y, (scale.1), and dx, (scale.2).
#include "kernels/scale/scale_arguments.hpp"
#include "kernels/training_step/run_state.hpp"

namespace tally::scale_steps {
namespace {

ScaleArguments arguments_of(Run& run, LayerState& layer, int k, const void* from, void* to) {
  return {run.c.precision.storage, from, to, run.rows(k) * layer.in,
          static_cast<float>(layer.layer->number("factor").to_double())};
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch("scale.forward", arguments_of(run, layer, k, run.x_of(layer, k), run.y_of(layer, k)));
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  run.launch("scale.backward", arguments_of(run, layer, k, run.dy_of(layer, k), run.dx_of(layer, k)));
}

const RegisterLayerSteps registered("scale", {forward, backward});

}  // namespace
}  // namespace tally::scale_steps
