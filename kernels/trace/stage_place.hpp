// Where a stage stands among those of a window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "kernels/trace/stage_group.hpp"

namespace tally {

/// Its place in `stages_in_order`; -1 of `count`, which comes before all of them, on the host, and is in no group;
/// behind all of them for a stage that does not exist.
inline std::ptrdiff_t place_of_stage(std::string_view stage) {
  return stage == "count" ? -1 : std::ranges::find(stages_in_order, stage) - stages_in_order.begin();
}

}  // namespace tally
