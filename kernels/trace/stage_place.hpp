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

/// Ranks go through a window in parts: each alone, then what all hand to their sum, the sum; each alone again up to what
/// it found; and from what all found on.
inline int part_of_window(std::string_view stage, std::string_view tensor) {
  const auto place = place_of_stage(stage), sum = place_of_stage("reduce"), agreement = place_of_stage("agree");
  const bool input = tensor.starts_with("in.") || (stage == "reduce" && tensor.starts_with("wire."));
  if (place <= sum) return place < sum ? 0 : input ? 1 : 2;
  return place < agreement || (place == agreement && input) ? 3 : 4;
}

}  // namespace tally
