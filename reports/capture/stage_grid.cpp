#include "reports/capture/stage_grid.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "reports/census/census.hpp"

namespace tally {
namespace {

/// Reads `<letter><digits>/` off the front.
bool take_number(std::string_view& text, char letter, int& number) {
  if (!text.starts_with(letter)) return false;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '/' || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

void count(StageCell& cell, const TensorCheck& check, bool first) {
  ++cell.checks;
  cell.first = cell.first || first;
  cell.failed += check.status == Status::fail || check.status == Status::error;
  cell.vacuous += check.status == Status::vacuous;
  cell.not_run += check.status == Status::not_run;
  if (check.status == Status::vacuous || check.status == Status::not_run) return;
  if (!cell.tap.empty() && !ratio_is_worse(check.worst_ratio, cell.worst)) return;
  cell.worst = check.worst_ratio, cell.tap = check.tap;
}

/// Micro-batches first, then what the window does with them: "w0 m0", "w0 m1", "w0".
bool runs_before(const StageColumn& a, const StageColumn& b) {
  const auto place = [](const StageColumn& c) { return std::pair(c.window, static_cast<unsigned>(c.micro_batch)); };
  return place(a) < place(b);
}

int interest(Status status) {
  return status == Status::fail ? 3 : status == Status::not_run ? 2 : status == Status::vacuous ? 1 : 0;
}

/// The columns that tell most, in running order again.
void keep(StageGrid& grid, std::size_t most) {
  std::map<StageColumn, int> telling;
  for (const auto& [place, cell] : grid.cells) {
    int& most_telling = telling[place.second];
    most_telling = std::max(most_telling, interest(cell.status()));
  }
  if (grid.columns.size() <= most) return;
  grid.columns_left_out = grid.columns.size() - most;
  std::stable_sort(grid.columns.begin(), grid.columns.end(),
                   [&](const StageColumn& a, const StageColumn& b) { return telling[a] > telling[b]; });
  grid.columns.resize(most);
  std::sort(grid.columns.begin(), grid.columns.end(), runs_before);
}

}  // namespace

Status StageCell::status() const {
  if (failed > 0) return Status::fail;
  if (not_run > 0) return Status::not_run;
  return vacuous == checks ? Status::vacuous : Status::pass;
}

std::string StageColumn::name() const {
  const std::string text = "w" + std::to_string(window);
  return micro_batch < 0 ? text : text + " m" + std::to_string(micro_batch);
}

const StageCell* StageGrid::at(const std::string& stage, const StageColumn& column) const {
  const auto found = cells.find({stage, column});
  return found == cells.end() ? nullptr : &found->second;
}

bool column_of(std::string_view tap, StageColumn& column) {
  column = {};
  int rank = 0;  // those of all stand in one cell
  if (!take_number(tap, 'w', column.window)) return false;
  take_number(tap, 'r', rank);
  if (!take_number(tap, 'm', column.micro_batch)) column.micro_batch = -1;
  return true;
}

StageGrid stage_grid(const CaptureRecord& capture, std::size_t most_columns) {
  StageGrid grid;
  grid.stages = capture.stages;
  for (std::size_t w = 0; w < capture.windows.size(); ++w)
    for (int k = -1; k < capture.windows[w]; ++k) grid.columns.push_back({static_cast<int>(w), k});
  bool told = false;
  for (const TensorCheck& check : capture.checks) {
    StageColumn column;
    if (!column_of(check.tap, column)) continue;
    const bool fails = check.status == Status::fail || check.status == Status::error;
    const bool first = !told && fails && check.tap == capture.first_tap && check.stage == capture.first_stage;
    told = told || first;
    count(grid.cells[{check.stage, column}], check, first);
  }
  std::sort(grid.columns.begin(), grid.columns.end(), runs_before);
  keep(grid, most_columns);
  return grid;
}

}  // namespace tally
