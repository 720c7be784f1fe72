// Stages that a subject fuses: a kernel that runs several in one leaves no taps between them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// The stages of a window, in the order it passes them.
inline constexpr std::array<std::string_view, 22> stages_in_order{
    "cast", "all_gather", "receive",    "forward",        "sync_statistics", "running_stats", "loss",    "backward",
    "fork", "send",       "accumulate", "reduce",         "overflow_check",  "agree",         "unscale", "norm",
    "clip", "decay",      "optimizer",  "gather_updated", "scaler",          "schedule"};

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

}  // namespace tally
