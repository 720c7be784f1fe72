// The checks of a capture by stage and micro-batch.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/record/capture_json.hpp"

namespace tally {

/// What was judged of one stage in one place.
struct StageCell {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  double worst = 0;    // error / bound, of what passed or failed
  std::string tap;     // of that
  bool first = false;  // the first failure of all is here
  /// A failure beats what is missing, that beats all else; vacuous only where nothing passed.
  Status status() const;
};

/// A micro-batch, or with -1 the stages of its whole window.
struct StageColumn {
  int window = 0, micro_batch = -1;
  auto operator<=>(const StageColumn&) const = default;
  /// "w0 m3", "w0".
  std::string name() const;
};

struct StageGrid {
  std::vector<std::string> stages;   // rows
  std::vector<StageColumn> columns;  // in running order
  std::map<std::pair<std::string, StageColumn>, StageCell> cells;
  /// Columns beyond those that a page holds: those that tell least are left out, which are counted here.
  std::size_t columns_left_out = 0;
  const StageCell* at(const std::string& stage, const StageColumn& column) const;
};

StageGrid stage_grid(const CaptureRecord& capture, std::size_t most_columns);

/// Where a tap stands; false where it names no place. "w0/m3/loss/loss" is column {0, 3}, of any rank.
bool column_of(std::string_view tap, StageColumn& column);

}  // namespace tally
