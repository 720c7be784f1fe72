// A layer that is its kernels alone, element by element: forward from x, backward from x and dy.
#include "kernels/training_step/run_state.hpp"

namespace tally {
namespace {

void forward(Run& run, LayerState& layer, int k) {
  run.launch<ActivationArguments>(layer.family + ".forward", {run.c.precision.storage, run.x_of(layer, k), nullptr,
                                                              run.y_of(layer, k), run.rows(k) * layer.in});
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  run.launch<ActivationArguments>(
      layer.family + ".backward",
      {run.c.precision.storage, run.x_of(layer, k), run.dy_of(layer, k), run.dx_of(layer, k), run.rows(k) * layer.in});
}

}  // namespace

const LayerSteps elementwise_steps{forward, backward};

}  // namespace tally
