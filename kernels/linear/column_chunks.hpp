// A matrix cut into blocks of 16 rows and 32 columns: one thread sums one column of a block, rows in order.
#pragma once

#include <utility>

#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

inline constexpr int chunk_columns = 32;

/// The order of a column's sum over chunks that meet in any order, for the claim of its kernel.
inline OrderOfSum chunk_additions() { return {{SumStep::runs, bias_gradient_chunk}}; }

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
  const auto across = static_cast<unsigned>((a.features + chunk_columns - 1) / chunk_columns);
  const bool full = a.rows % bias_gradient_chunk == 0, full_across = a.features % chunk_columns == 0;
  if (!take_way({{"one chunk of rows", chunks == 1},
                 {"several chunks of rows, the last one full", chunks > 1 && full},
                 {"several chunks of rows, the last one cut", chunks > 1 && !full},
                 {"one block of columns, cut", across == 1 && !full_across},
                 {"blocks of columns, the last one full", full_across},
                 {"several blocks of columns, the last one cut", across > 1 && !full_across}}) ||
      chunks == 0 || a.features == 0)
    return;
  launch<kernel>(stream, {dim3(static_cast<unsigned>(chunks), across), chunk_columns},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
