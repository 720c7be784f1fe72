// Launches a kernel of kernels/reduction/row_sum.hpp: how many threads share a row, and how many rows a block takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/device/launch.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// Calls `use.operator()<lanes>()`.
template <class Use>
void by_row_lanes(std::int64_t elements, Use use) {
  if (elements < shared_row_elements) {
    use.template operator()<1>();
  } else {
    use.template operator()<32>();
  }
}

/// Blocks of at most 128 threads, at most 65535 blocks; each takes further rows in strides.
template <int lanes, auto kernel, class... Arguments>
void launch_rows(Stream& stream, std::int64_t rows, Arguments&&... arguments) {
  if (rows == 0) return;
  const std::int64_t rows_a_block = std::min<std::int64_t>(rows, 128 / lanes);
  const std::int64_t blocks = std::min<std::int64_t>((rows + rows_a_block - 1) / rows_a_block, 65535);
  launch<kernel>(stream, {static_cast<unsigned>(blocks), dim3(lanes, static_cast<unsigned>(rows_a_block))},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
