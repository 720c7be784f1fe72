// How a step runs an activation, and a gate.
#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/run/run_state.hpp"

// A layer that is its kernels alone, element by element: forward from x, backward from x and dy.
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

// y from the gate and what it opens for, (gated.1), and the gradients of both, (gated.2) and (gated.3).
namespace tally::gated_steps {
namespace {

GatedArguments arguments(Run& run, LayerState& layer, int k) {
  return {.storage = run.c.precision.storage,
          .gate = run.x_of(layer, k),
          .up = run.x_of(layer, k, 1),
          .dy = nullptr,
          .y = run.y_of(layer, k),
          .dgate = nullptr,
          .dup = nullptr,
          .elements = run.rows(k) * layer.out};
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch<GatedArguments>(layer.family + ".forward", arguments(run, layer, k));
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  GatedArguments at = arguments(run, layer, k);
  at.dy = run.dy_of(layer, k);
  at.dgate = run.dx_of(layer, k);
  at.dup = run.dx_of(layer, k, 1);
  run.launch<GatedArguments>(layer.family + ".backward", at);
}

const RegisterKind<LayerSteps> registered("gated", {forward, backward});

}  // namespace
}  // namespace tally::gated_steps
