// The stages of a window in order, and those that a subject fuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/graph/stage.hpp"

namespace tally {

// Stages that a subject fuses: a kernel that runs several in one leaves no taps between them.

/// The stages of a window, in the order it passes them: those of the graph but `checkpoint` and `count`.
inline constexpr auto stages_in_order = std::span(stage_names).subspan<2>();

/// Every stage from `first` to `last`, both included: "unscale..optimizer".
struct StageGroup {
  std::string first, last;
  bool holds(std::string_view stage) const;
  std::string text() const { return first + ".." + last; }
  friend bool operator==(const StageGroup&, const StageGroup&) = default;
};

/// Groups by line. Throws std::runtime_error for a stage that does not exist, a group that ends before it begins, and
/// a stage in two groups.
std::vector<StageGroup> stage_groups_of(std::string_view lines);

// Where a stage stands among those of a window.

/// Its place in `stages_in_order`; -1 of `count`, which comes before all of them, on the host, and is in no group, and
/// -2 of `checkpoint`, which stands between windows and is in none either; behind all of them for a stage that does not
/// exist.
inline std::ptrdiff_t place_of_stage(std::string_view stage) {
  if (stage == StageName::checkpoint) return -2;
  return stage == StageName::count ? -1 : std::ranges::find(stages_in_order, stage) - stages_in_order.begin();
}

/// Ranks go through a window in parts: each alone, then what all hand to their sum, the sum; each alone again up to what
/// it found; from what all found on to its part of a norm; from the norm on to what it moved; and from what all moved on.
/// A checkpoint is taken up in front of a window and written down behind the last part of one.
inline int part_of_window(std::string_view stage, std::string_view tensor) {
  const auto place = place_of_stage(stage);
  const auto is_behind = [&](std::string_view meeting, bool own) {
    const auto at = place_of_stage(meeting);
    return place > at || (place == at && !own);
  };
  const bool input = tensor.starts_with("in.");
  if (stage == StageName::checkpoint) return input ? 7 : 0;
  if (place < place_of_stage("reduce")) return 0;
  if (!is_behind("reduce", input || tensor.starts_with("wire."))) return 1;
  if (place == place_of_stage("reduce")) return 2;
  if (!is_behind("agree", input)) return 3;
  if (!is_behind("norm", input || tensor == "part")) return 4;
  return is_behind("gather_updated", input) ? 6 : 5;
}

}  // namespace tally
