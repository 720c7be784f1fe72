// relu, tanh, sigmoid and both gelus: element by element, backward from the layer's input.
#include "kernels/training_step/kernel_clock.hpp"
#include "kernels/training_step/run_state.hpp"

namespace tally {
namespace {

std::string kind_of(const Layer& layer) {
  return layer.kind == "gelu" ? "gelu_" + layer.text("approximate") : layer.kind;
}

/// The kernels of a kind; gelu has two, by its option.
const ActivationKernels& kernels_of(const Run& run, const Layer& layer) {
  if (layer.kind == "relu") return run.kernels.relu;
  if (layer.kind == "tanh") return run.kernels.tanh;
  if (layer.kind == "sigmoid") return run.kernels.sigmoid;
  return layer.text("approximate") == "tanh" ? run.kernels.gelu_tanh : run.kernels.gelu_none;
}

void forward(Run& run, LayerState& layer, int k) {
  timed(kind_of(*layer.layer) + ".forward", kernels_of(run, *layer.layer).forward, run.stream,
        {run.c.precision.storage, run.x_of(layer, k), nullptr, run.y_of(layer, k), run.rows(k) * layer.in});
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  timed(
      kind_of(*layer.layer) + ".backward", kernels_of(run, *layer.layer).backward, run.stream,
      {run.c.precision.storage, run.x_of(layer, k), run.dy_of(layer, k), run.dx_of(layer, k), run.rows(k) * layer.in});
}

const RegisterLayerSteps registered_relu("relu", {forward, backward});
const RegisterLayerSteps registered_tanh("tanh", {forward, backward});
const RegisterLayerSteps registered_sigmoid("sigmoid", {forward, backward});
const RegisterLayerSteps registered_gelu("gelu", {forward, backward});

}  // namespace
}  // namespace tally
