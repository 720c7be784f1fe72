// y, (rotary.1), and dx, (rotary.2), by a table of the window's rows.
#include "oracle/layers/rotary.hpp"

#include "kernels/rotary/rotary_arguments.hpp"
#include "kernels/training_step/run_state.hpp"

namespace tally::rotary_steps {
namespace {

RotaryArguments arguments_of(Run& run, LayerState& layer, int k, const DeviceTensor& turns, bool back) {
  const RotaryPairs pairs(*layer.layer, layer.in);
  return {.storage = run.c.precision.storage,
          .x = back ? run.dy_of(layer, k) : run.x_of(layer, k),
          .y = back ? run.dx_of(layer, k) : run.y_of(layer, k),
          .turns = static_cast<const float*>(turns.row(run.first_row(k))),
          .rows = run.rows(k),
          .heads = pairs.heads,
          .size = pairs.size,
          .rotated = pairs.rotated,
          .interleaved = pairs.interleaved,
          .back = back};
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch("rotary.forward", arguments_of(run, layer, k, layer.turns, false));
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  run.launch("rotary.backward", arguments_of(run, layer, k, layer.turns_back, true));
}

const RegisterLayerSteps registered("rotary", {forward, backward});

}  // namespace
}  // namespace tally::rotary_steps
