#include "reports/html/rank_grid.hpp"

#include <algorithm>
#include <charconv>

#include "reports/html/pieces.hpp"
#include "reports/html/table.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

/// The stages of all rows; of each the most complete row gives the order.
std::vector<std::string> stages_of(const std::vector<RankRow>& rows) {
  std::vector<std::string> stages;
  for (const RankRow& row : rows) {
    auto behind = stages.begin();
    for (const RankStage& stage : row.stages) {
      const auto known = std::ranges::find(stages, stage.stage);
      behind = known != stages.end() ? known + 1 : stages.insert(behind, stage.stage) + 1;
    }
  }
  return stages;
}

bool is_of_pipeline(const RankRow& row) { return row.pipe >= 0; }

std::string ranks_text(const RankRow& row) {
  const std::string first = std::to_string(row.first);
  return row.first == row.last ? first : first + " to " + std::to_string(row.last);
}

/// "1", of several ranks "1 of ranks 0 to 3".
std::string name_of(const RankRow& row, bool several) {
  if (!is_of_pipeline(row)) return ranks_text(row);
  if (!several) return std::to_string(row.pipe);
  return std::to_string(row.pipe) + (row.first == row.last ? " of rank " : " of ranks ") + ranks_text(row);
}

/// "w0/r2/m1/backward/d.fc1.weight": its rank, -1 where it names none.
std::int64_t rank_of(const std::string& tap) {
  const std::size_t at = tap.find("/r");
  std::int64_t rank = -1;
  if (at == std::string::npos) return rank;
  const auto [end, error] = std::from_chars(tap.data() + at + 2, tap.data() + tap.size(), rank);
  return error == std::errc() ? rank : -1;
}

bool names_stage(const std::string& tap, const std::string& stage) {
  return tap.find("/" + stage + "/") != std::string::npos;
}

void cell_of(Markup& page, Table::Row& line, const RankStage& stage, bool first) {
  const auto cell = line.open("t tint-" + class_of(stage.status));
  page.text(std::string(mark_of(stage.status)) + (stage.failed > 0 ? " " + grouped(stage.failed) : ""));
  if (first) page.element("small", {}, "fails first");
}

}  // namespace

void rank_grid(Markup& page, const std::vector<RankRow>& rows, const std::string& title, const std::string& first_tap) {
  if (rows.empty()) return;
  const std::vector<std::string> stages = stages_of(rows);
  const bool in_stages = is_of_pipeline(rows.front());
  const bool several = std::ranges::any_of(rows, [](const RankRow& row) { return row.last > 0; });
  std::vector<std::string> titles{in_stages ? "Stage of the pipeline" : "Rank"};
  titles.insert(titles.end(), stages.begin(), stages.end());
  Table table(
      page,
      (in_stages ? "Pipeline of " : "Ranks of ") + title + " by stage, over all windows, with how many tensors fail",
      titles);
  for (const RankRow& row : rows) {
    auto line = table.row();
    line.head(name_of(row, several));
    for (const std::string& stage : stages) {
      const auto found = std::ranges::find(row.stages, stage, &RankStage::stage);
      const bool of_rank = rank_of(first_tap) >= row.first && rank_of(first_tap) <= row.last;
      const bool first =
          in_stages ? found != row.stages.end() && found->first : of_rank && names_stage(first_tap, stage);
      if (found == row.stages.end())
        line.cell("\u2013");
      else
        cell_of(page, line, *found, first);
    }
  }
}

}  // namespace tally
