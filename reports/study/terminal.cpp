#include <algorithm>

#include "reports/study/cells.hpp"
#include "reports/study/study.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/utf8.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t most_rows = 30;

std::string table_text(const StudyTable& table) {
  std::vector<std::vector<std::string>> rows = {titles_of(table)};
  const std::size_t shown = std::min(rows_of(table), most_rows);
  rows.resize(1 + shown, std::vector<std::string>(table.columns.size()));
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const auto cells = cells_of(table.columns[k]);
    for (std::size_t i = 0; i < std::min(shown, cells.size()); ++i) rows[i + 1][k] = cells[i];
  }
  const std::string more =
      rows_of(table) > shown ? "  and " + counted(rows_of(table) - shown, "more row") + " in the page\n" : "";
  return "\n" + one_line(table.title) + "\n" + columns(rows) + more;
}

}  // namespace

std::string terminal_text(const Study& study) {
  std::string out =
      one_line(study.question) + "\n" + mark_and_word(study.status) + "  " + one_line(study.answer) + "\n";
  if (!study.message.empty()) out += "  " + one_line(study.message) + "\n";
  if (study.partial) out += "  incomplete: interrupted\n";
  for (const StudyTable& table : study.tables) out += table_text(table);
  return out;
}

}  // namespace tally
