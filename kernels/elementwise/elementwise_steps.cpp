// How a step runs sums, dropout, scales and slices.
#include "kernels/layer_arguments.hpp"
#include "kernels/norm/norm_steps.hpp"
#include "kernels/training_step/run/run_state.hpp"

// The sum of its inputs in the order of their list, (add.1); perhaps with the norm that follows. Its gradient is handed
// on, (add.2).
namespace tally::add_steps {
namespace {

void forward(Run& run, LayerState& layer, int k) {
  if (LayerState* norm = norm_added_to(run, layer)) {
    const AddNormArguments both{run.x_of(layer, k), run.x_of(layer, k, 1), run.y_of(layer, k),
                                rms_norm_forward(run, *norm, k)};
    return run.launch(add_norm_operation, both);
  }
  const std::int64_t elements = run.rows(k) * layer.out;
  const void* sum = run.x_of(layer, k);
  for (std::size_t j = 1; j < layer.inputs.size(); ++j) {
    run.launch<AddArguments>("add.forward",
                             {run.c.precision.storage, sum, run.x_of(layer, k, j), run.y_of(layer, k), elements});
    sum = run.y_of(layer, k);
  }
}

const RegisterKind<LayerSteps> registered("add", {forward, nullptr});

}  // namespace
}  // namespace tally::add_steps

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

const RegisterKind<LayerSteps> registered("dropout", {forward, backward});

}  // namespace
}  // namespace tally::dropout_steps

// y, (scale.1), and dx, (scale.2).
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

const RegisterKind<LayerSteps> registered("scale", {forward, backward});

}  // namespace
}  // namespace tally::scale_steps

// y, (slice.1), and dx, (slice.2).
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

const RegisterKind<LayerSteps> registered("slice", {forward, backward});

}  // namespace
}  // namespace tally::slice_steps
