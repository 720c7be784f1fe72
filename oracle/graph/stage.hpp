// The stages of a window, by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tally {

/// `checkpoint` stands between windows, and `count` is done on the host in front of one; the others as a window passes
/// them.
enum class StageName : std::uint8_t {
  checkpoint,
  count,
  cast,
  all_gather,
  receive,
  forward,
  sync_statistics,
  running_stats,
  loss,
  backward,
  fork,
  send,
  accumulate,
  reduce,
  overflow_check,
  agree,
  unscale,
  norm,
  clip,
  decay,
  optimizer,
  gather_updated,
  scaler,
  schedule
};

inline constexpr std::array<std::string_view, 24> stage_names{
    "checkpoint", "count",    "cast", "all_gather", "receive",    "forward",        "sync_statistics", "running_stats",
    "loss",       "backward", "fork", "send",       "accumulate", "reduce",         "overflow_check",  "agree",
    "unscale",    "norm",     "clip", "decay",      "optimizer",  "gather_updated", "scaler",          "schedule"};

constexpr std::string_view name_of(StageName stage) { return stage_names[static_cast<std::size_t>(stage)]; }

constexpr bool operator==(std::string_view name, StageName stage) { return name == name_of(stage); }

/// nullopt: there is none of this name.
constexpr std::optional<StageName> stage_called(std::string_view name) {
  for (std::size_t i = 0; i < stage_names.size(); ++i)
    if (stage_names[i] == name) return static_cast<StageName>(i);
  return std::nullopt;
}

}  // namespace tally
