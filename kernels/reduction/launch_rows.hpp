// Launches a kernel of kernels/reduction/row_sum.hpp: how many threads share a row, and how many rows a block takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/device/launch.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// How a row falls into the strides of the warp that shares it.
inline void take_stride_ways(std::int64_t elements) {
  take_way({{"a row's last stride full", elements % 32 == 0},
            {"a row's last stride cut", elements % 32 != 0},
            {"768 elements a row or more", elements >= 768}});
}

/// Calls `use.operator()<lanes>()`.
template <class Use>
void by_row_lanes(std::int64_t elements, Use use) {
  const bool all = declaring_paths();
  if (all || elements < shared_row_elements) {
    const LaunchPart part("one thread a row");
    use.template operator()<1>();
  }
  if (all || elements >= shared_row_elements) {
    const LaunchPart part("a warp a row");
    take_stride_ways(elements);
    use.template operator()<32>();
  }
}

/// Blocks of at most 128 threads, at most 65535 blocks; each takes further rows in strides.
template <int lanes, auto kernel, class... Arguments>
void launch_rows(Stream& stream, std::int64_t rows, Arguments&&... arguments) {
  const std::int64_t rows_a_block = std::clamp<std::int64_t>(rows, 1, 128 / lanes);
  const std::int64_t needed = (rows + rows_a_block - 1) / rows_a_block;
  const std::int64_t blocks = std::min(needed, blocks_at_most(65535));
  const bool full = rows % rows_a_block == 0;
  if (!take_way({{"one block", needed == 1},
                 {"several blocks, the last one full", needed > 1 && full},
                 {"several blocks, the last one cut", needed > 1 && !full},
                 {"strides over the grid", blocks < needed}}) ||
      rows == 0)
    return;
  launch<kernel>(stream, {static_cast<unsigned>(blocks), dim3(lanes, static_cast<unsigned>(rows_a_block))},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
