// The sum of its inputs in the order of their list, (add.1); perhaps with the norm that follows. Its gradient is handed
// on, (add.2).
#include "kernels/training_step/add_norm.hpp"
#include "kernels/training_step/layers/rms_norm.hpp"

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

const RegisterLayerSteps registered("add", {forward, nullptr});

}  // namespace
}  // namespace tally::add_steps
