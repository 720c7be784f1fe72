#include "reports/study/cells.hpp"
#include "reports/study/study.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/utf8.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

std::string table_text(const StudyTable& table) {
  std::vector<std::vector<std::string>> rows = {titles_of(table)};
  rows.resize(1 + rows_of(table), std::vector<std::string>(table.columns.size()));
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const auto cells = cells_of(table.columns[k]);
    for (std::size_t i = 0; i < cells.size(); ++i) rows[i + 1][k] = cells[i];
  }
  return "\n" + one_line(table.title) + "\n" + columns(rows);
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
