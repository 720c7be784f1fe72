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
  if (rows < shared_column_rows) {
    use.template operator()<1>();
  } else {
    use.template operator()<column_lanes>();
  }
}

template <int lanes, auto kernel, class... Arguments>
void launch_columns(Stream& stream, std::int64_t columns, Arguments&&... arguments) {
  if (columns == 0) return;
  const auto blocks = static_cast<unsigned>((columns + column_tile - 1) / column_tile);
  launch<kernel>(stream, {blocks, dim3(column_tile, lanes)}, std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
