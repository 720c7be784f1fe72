#include "reports/capture/sections.hpp"
#include "reports/capture/stage_grid.hpp"
#include "reports/html/rank_grid.hpp"
#include "reports/html/table.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
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
  text += numbers ? "Below the sign the largest error / bound, whose limit is 1. "
                  : "The title of a sign says the largest error / bound, whose limit is 1. ";
  text += "A column w0 m1 is micro-batch 1 of window 0, w0 alone what the whole window does.";
  if (!capture.ranks.empty()) text += " A cell holds what all ranks leave there.";
  if (!capture.first_tap.empty()) text += " The first failure is framed.";
  if (grid.columns_left_out > 0)
    text += " " + counted(grid.columns_left_out, "further column") +
            " are left out, none of which tells more than those shown: see check.json.";
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
  page.element("p", {}, "By the checks on each rank's own bits; neighbours of which the same was found share a row.");
  const auto frame = page.open("div", {{"class", "grid"}});
  rank_grid(page, capture.ranks, capture.case_title, capture.first_tap);
}

}  // namespace tally
