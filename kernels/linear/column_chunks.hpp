// A matrix cut into blocks of 16 rows and 32 columns: one thread sums one column of a block, rows in order.
#pragma once

#include <utility>

#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally {
inline namespace TALLY_SIDE {

inline constexpr int chunk_columns = 32;

struct ColumnChunk {
  std::int64_t column, first_row, end_row;
};

/// This thread's; the column may lie outside of the matrix.
__device__ inline ColumnChunk column_chunk(std::int64_t rows) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * bias_gradient_chunk;
  const std::int64_t left = rows - first;
  return {static_cast<std::int64_t>(blockIdx.y) * chunk_columns + threadIdx.x, first,
          first + (left < bias_gradient_chunk ? left : bias_gradient_chunk)};
}

template <class S>
__device__ inline float chunk_sum(const S* dy, const ColumnChunk& chunk, std::int64_t features) {
  float sum = 0.0f;
  for (std::int64_t row = chunk.first_row; row < chunk.end_row; ++row) {
    sum = __fadd_rn(sum, to_float(dy[row * features + chunk.column]));
  }
  return sum;
}

/// Nothing for no rows or no columns. At most 65535 blocks of columns.
template <auto kernel, class... Arguments>
void launch_column_chunks(Stream& stream, const BiasGradientArguments& a, Arguments&&... arguments) {
  const std::int64_t chunks = bias_gradient_chunks(a.rows);
  if (chunks == 0 || a.features == 0) return;
  const auto across = static_cast<unsigned>((a.features + chunk_columns - 1) / chunk_columns);
  launch<kernel>(stream, {dim3(static_cast<unsigned>(chunks), across), chunk_columns},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
