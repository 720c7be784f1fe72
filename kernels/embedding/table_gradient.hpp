// The gradient of a table whose rows a layer looks up.
#pragma once

#include <cstdint>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// dW of micro-batch k by `index` i64 [rows], which lies on the device. Nothing for a frozen table.
inline void compute_table_gradient(Run& run, LayerState& layer, int k, const void* index, std::int64_t except) {
  if (layer.trained_weight() == nullptr) return;
  const auto* numbers = static_cast<const std::int64_t*>(index);
  const std::int64_t table_rows = layer.weight->copy.shape[0];
  run.launch<TableGradientArguments>(
      "embedding.gradient",
      {run.c.precision.storage, run.dy_of(layer, k), numbers, run.gradient_by(layer, layer.weight, k), run.rows(k),
       layer.out, table_rows, except, layer.row_order ? layer.row_order.as<std::int64_t>() : nullptr,
       layer.table_sums ? layer.table_sums.as<float>() : nullptr});
}

}  // namespace tally
