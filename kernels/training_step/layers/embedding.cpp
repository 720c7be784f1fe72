// y by looking tokens up, (embedding.1); dW, (embedding.2).
#include "kernels/training_step/layers/table_gradient.hpp"

namespace tally::embedding_steps {
namespace {

void forward(Run& run, LayerState& layer, int k) {
  run.launch<LookUpArguments>("embedding.forward", {run.c.precision.storage, layer.weight->copy.data(),
                                                    static_cast<const std::int64_t*>(run.x_of(layer, k)), nullptr,
                                                    run.y_of(layer, k), run.rows(k), layer.out});
}

void backward(Run& run, LayerState& layer, int k) {
  compute_table_gradient(run, layer, k, run.x_of(layer, k), layer.layer->integer("padding_index"));
}

const RegisterLayerSteps registered("embedding", {forward, backward});

}  // namespace
}  // namespace tally::embedding_steps
