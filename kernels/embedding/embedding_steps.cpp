// How a step looks up tokens and positions.
#include <cstdint>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {
namespace {

/// dW of micro-batch k by `index` i64 [rows], which lies on the device. Nothing for a frozen table.
void compute_table_gradient(Run& run, LayerState& layer, int k, const void* index, std::int64_t except) {
  if (layer.trained_weight() == nullptr) return;
  const auto* numbers = static_cast<const std::int64_t*>(index);
  const std::int64_t table_rows = layer.weight->copy.shape[0];
  run.launch<TableGradientArguments>(
      "embedding.gradient",
      {run.c.precision.storage, run.dy_of(layer, k), numbers, run.gradient_by(layer, layer.weight, k), run.rows(k),
       layer.out, table_rows, except, layer.row_order ? layer.row_order.as<std::int64_t>() : nullptr,
       layer.table_sums ? layer.table_sums.as<float>() : nullptr});
}

}  // namespace
}  // namespace tally

// y by looking tokens up, (embedding.1); dW, (embedding.2).
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

const RegisterKind<LayerSteps> registered("embedding", {forward, backward});

}  // namespace
}  // namespace tally::embedding_steps

// y by adding each position's row, (position_embedding.1); dx, a copy, and dW, (position_embedding.3).
namespace tally::position_embedding_steps {
namespace {

constexpr std::int64_t no_row = -1;

void forward(Run& run, LayerState& layer, int k) {
  run.launch<LookUpArguments>("position_embedding.forward",
                              {run.c.precision.storage, layer.weight->copy.data(),
                               static_cast<const std::int64_t*>(run.positions.row(run.first_row(k))),
                               run.x_of(layer, k), run.y_of(layer, k), run.rows(k), layer.out});
}

void backward(Run& run, LayerState& layer, int k) {
  if (layer.gives_dx)
    run.launch<CopyArguments>("position_embedding.backward", {run.c.precision.storage, run.dy_of(layer, k),
                                                              run.dx_of(layer, k), run.rows(k) * layer.in});
  compute_table_gradient(run, layer, k, run.positions.row(run.first_row(k)), no_row);
}

const RegisterKind<LayerSteps> registered("position_embedding", {forward, backward});

}  // namespace
}  // namespace tally::position_embedding_steps
