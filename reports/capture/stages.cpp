// The checks of a capture by stage and micro-batch.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "reports/capture/page.hpp"
#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

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
  int rank = 0, pipe = 0;  // those of all stand in one cell
  if (!take_number(tap, 'w', column.window)) return false;
  take_number(tap, 'r', rank);
  take_number(tap, 'p', pipe);
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

namespace {

constexpr std::size_t most_columns = 128;         // more than anybody looks at; check.json has all
constexpr std::size_t columns_with_numbers = 14;  // of more, a number stands in the title of the cell

/// "FAIL, 2 of 5 checks; worst 1.78e+06 of its bound, w0/m1/backward/d.fc.weight".
std::string words_of(const StageCell& cell) {
  std::string text = shown_word_of(cell.status()) + std::string(", ");
  const auto some = [&cell](std::size_t n, const char* word) {
    return grouped(n) + " of " + counted(cell.checks, "check") + word;
  };
  if (cell.failed > 0)
    text += some(cell.failed, " outside");
  else if (cell.not_run > 0)
    text += some(cell.not_run, " without the taps");
  else
    text += counted(cell.checks, "check") + (cell.vacuous > 0 ? ", " + grouped(cell.vacuous) + " vacuous" : "");
  if (!cell.tap.empty()) text += "; worst " + significant(cell.worst) + " of its bound, " + cell.tap;
  return text;
}

void write(Markup& page, Table::Row& row, const StageCell* cell, bool numbers) {
  if (cell == nullptr) return row.cell("");
  const std::string status = class_of(cell->status());
  const auto open = row.open("s " + status + " tint-" + status + (cell->first ? " first" : ""));
  const std::string words = words_of(*cell);
  const auto sign = [&] {
    page.element("span", {{"role", "img"}, {"aria-label", words}, {"title", words}}, mark_of(cell->status()));
  };
  if (cell->first) {
    const auto link = page.open("a", {{"href", "#failing"}, {"aria-label", "The first failure: " + words}});
    sign();
  } else {
    sign();
  }
  if (numbers && !cell->tap.empty()) page.element("small", {}, significant(cell->worst));
}

std::string legend(const CaptureRecord& capture, const StageGrid& grid, bool numbers) {
  std::string text =
      "\u2713 inside every bound, \u2717 outside one, \u25CB vacuous (the bound is wider than the signal), "
      "\u2013 not judged; empty: the stage leaves nothing there. ";
  text += numbers ? "Below the sign: the largest error / bound, whose limit is 1. "
                  : "The tooltip of a sign shows the largest error / bound, whose limit is 1. ";
  text += "A column w0 m1 is micro-batch 1 of window 0, a column w0 the whole window.";
  if (!capture.ranks.empty()) text += " A cell holds what all ranks leave there.";
  if (!capture.first_tap.empty()) text += " The first failure is framed.";
  if (grid.columns_left_out > 0)
    text += " " + counted(grid.columns_left_out, "further column") +
            " are left out, which show no more than these: see check.json.";
  return text;
}

}  // namespace

void capture_grid_section(Markup& page, const CaptureRecord& capture) {
  const auto section = page.open("section", {{"aria-labelledby", "grid"}});
  page.element("h2", {{"id", "grid"}}, "Stages and micro-batches");
  const StageGrid grid = stage_grid(capture, most_columns);
  const bool numbers = grid.columns.size() <= columns_with_numbers;
  page.element("p", {}, legend(capture, grid, numbers));
  const auto frame = page.open("div", {{"class", "grid"}});
  std::vector<std::string> titles{"Stage"};
  for (const StageColumn& column : grid.columns) titles.push_back(">" + column.name());
  Table table(page, "Every stage in every micro-batch and window", titles);
  for (const std::string& stage : grid.stages) {
    auto row = table.row();
    row.head(stage);
    for (const StageColumn& column : grid.columns) write(page, row, grid.at(stage, column), numbers);
  }
}

void capture_ranks_section(Markup& page, const CaptureRecord& capture) {
  if (capture.ranks.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "ranks"}});
  page.element("h2", {{"id", "ranks"}}, "Ranks");
  page.element("p", {}, "Checks on each rank's own bits; neighbouring ranks with the same result share a row.");
  const auto frame = page.open("div", {{"class", "grid"}});
  rank_grid(page, capture.ranks, capture.case_title, capture.first_tap);
}

namespace {

struct StageCount {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  const TensorCheck* local = nullptr;       // nearest to its limit, or beyond it
  const TensorCheck* end_to_end = nullptr;  // the same
};

void count_check(StageCount& stage, const TensorCheck& check) {
  ++stage.checks;
  stage.failed += check.status == Status::fail || check.status == Status::error;
  stage.vacuous += check.status == Status::vacuous;
  stage.not_run += check.status == Status::not_run;
  if (check.status == Status::vacuous || check.status == Status::not_run) return;
  const TensorCheck*& worst = check.lens == "end_to_end" ? stage.end_to_end : stage.local;
  if (worst == nullptr || ratio_is_worse(check.worst_ratio, worst->worst_ratio)) worst = &check;
}

void nearest(Markup& page, Table::Row& row, const TensorCheck* check) {
  const auto cell = row.open();
  if (check == nullptr) return page.text("\u2013");
  page.text(significant(check->worst_ratio));
  page.element("small", {}, check->tap);
}

}  // namespace

void capture_stages_section(Markup& page, const CaptureRecord& capture) {
  const auto section = page.open("section", {{"aria-labelledby", "stages"}});
  page.element("h2", {{"id", "stages"}}, "Stages");
  Table table(page, "Tensor checks by stage, with the largest error / bound and its tensor",
              {"Stage", ">Checks", ">Failed", ">Vacuous", ">Not judged", ">By itself", ">End to end"});
  std::map<std::string, StageCount> counts;
  for (const TensorCheck& check : capture.checks) count_check(counts[check.stage], check);
  for (const std::string& stage : capture.stages) {
    const StageCount& found = counts[stage];
    auto row = table.row(found.failed > 0 ? "fail" : "other");
    row.head(stage);
    for (const std::size_t n : {found.checks, found.failed, found.vacuous, found.not_run}) row.cell(grouped(n));
    nearest(page, row, found.local);
    nearest(page, row, found.end_to_end);
  }
}

}  // namespace tally
