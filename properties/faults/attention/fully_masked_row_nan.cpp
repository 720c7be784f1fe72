// A row of padding sees no row, not even itself: what attention leaves there is 0 / 0.
#include <limits>

#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/rows_of_padding.hpp"

namespace tally::fully_masked_row_nan_fault {
namespace {

void attend(Run& run, LayerState& layer, int k) {
  layer_steps("attention").forward(run, layer, k);
  const std::vector<std::int64_t> padding = padding_up_to(run.c);
  Tensor row(run.c.precision.storage, {layer.out});
  for (std::size_t i = 0; i < row.elements(); ++i) row.set(i, std::numeric_limits<double>::quiet_NaN());
  run.stream.synchronize();
  for (std::int64_t i = 0; i < run.rows(k); ++i) {
    if (padding[static_cast<std::size_t>(run.first_row(k) + i)] == 0) continue;
    std::byte* y = static_cast<std::byte*>(run.y_of(layer, k)) + static_cast<std::size_t>(i) * row.bytes.size();
    run.device.write(y, row.bytes.data(), row.bytes.size());
  }
}

void forward(Run& run) {
  static const LayerSteps steps{attend, layer_steps("attention").backward};
  for (LayerState& layer : run.layers)
    if (layer.layer->kind == "attention") layer.steps = &steps;
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "fully-masked-row-nan",
    .stage = "forward",
    .right = "a row of padding sees itself",
    .wrong = "a row of padding sees no row: 0 / 0",
    .condition = "padding, and attention",
    .knob = "none",
    .source = "pytorch/pytorch 103749, unslothai/unsloth 9848",
    .laws = {"padding_leaves_nothing"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::fully_masked_row_nan_fault
