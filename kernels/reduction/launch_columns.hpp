// Launches a kernel of kernels/reduction/column_sum.hpp: how many threads share a column, and how many blocks there
// are.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/device/launch.hpp"
#include "kernels/reduction/column_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// Calls `use.operator()<lanes>()`.
template <class Use>
void by_column_lanes(std::int64_t rows, Use use) {
  const bool all = declaring_paths();
  if (all || rows < shared_column_rows) {
    const LaunchPart part("one thread a column");
    use.template operator()<1>();
  }
  if (all || rows >= shared_column_rows) {
    const LaunchPart part("8 threads a column");
    take_way({{"a column's last stride full", rows % column_lanes == 0},
              {"a column's last stride cut", rows % column_lanes != 0}});
    use.template operator()<column_lanes>();
  }
}

template <int lanes, auto kernel, class... Arguments>
void launch_columns(Stream& stream, std::int64_t columns, Arguments&&... arguments) {
  const std::int64_t blocks = (columns + column_tile - 1) / column_tile;
  const bool full = columns % column_tile == 0;
  if (!take_way({{"one block, full", blocks == 1 && full},
                 {"one block, cut", blocks == 1 && !full},
                 {"several blocks, the last one full", blocks > 1 && full},
                 {"several blocks, the last one cut", blocks > 1 && !full}}) ||
      columns == 0)
    return;
  launch<kernel>(stream, {static_cast<unsigned>(blocks), dim3(column_tile, lanes)},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
