// Launches a kernel of kernels/reduction/column_sum.hpp: how many threads share a column, and how many blocks there
// are.
#pragma once

#include <cstdint>

#include "kernels/device/launch.hpp"
#include "kernels/reduction/column_sum.hpp"

namespace tally {

/// Calls `use.operator()<lanes>()`.
template <class Use>
void by_column_lanes(std::int64_t rows, Use use) {
  if (rows < shared_column_rows) {
    use.template operator()<1>();
  } else {
    use.template operator()<column_lanes>();
  }
}

template <int lanes, class... Parameters, class... Arguments>
void launch_columns(Stream& stream, std::int64_t columns, void (*kernel)(Parameters...), Arguments... arguments) {
  if (columns == 0) return;
  const auto blocks = static_cast<unsigned>((columns + column_tile - 1) / column_tile);
  launch(stream, blocks, Block{column_tile, lanes}, kernel, arguments...);
}

}  // namespace tally
