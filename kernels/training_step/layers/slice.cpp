// y, (slice.1), and dx, (slice.2).
#include "kernels/slice/slice_arguments.hpp"
#include "kernels/training_step/run_state.hpp"

namespace tally::slice_steps {
namespace {

SliceArguments arguments_of(Run& run, LayerState& layer, int k, const void* from, void* to) {
  return {run.c.precision.storage, from, to, run.rows(k), layer.in, layer.layer->integer("begin"), layer.out};
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch("slice.forward", arguments_of(run, layer, k, run.x_of(layer, k), run.y_of(layer, k)));
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  run.launch("slice.backward", arguments_of(run, layer, k, run.dy_of(layer, k), run.dx_of(layer, k)));
}

const RegisterLayerSteps registered("slice", {forward, backward});

}  // namespace
}  // namespace tally::slice_steps
