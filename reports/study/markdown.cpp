#include "reports/summary/markdown.hpp"

#include "reports/study/cells.hpp"
#include "reports/study/study.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

std::string markdown_table(const StudyTable& table) {
  std::string head = "|", rule = "|", body;
  std::vector<std::vector<std::string>> cells;
  for (const StudyColumn& column : table.columns) {
    head += " " + markdown(column.name) + " |";
    rule += holds_numbers(column) ? "---:|" : "---|";
    cells.push_back(cells_of(column));
  }
  for (std::size_t i = 0; i < rows_of(table); ++i) {
    body += "|";
    for (const auto& column : cells) body += " " + (i < column.size() ? markdown(column[i]) : "") + " |";
    body += "\n";
  }
  const std::string note = table.note.empty() ? "" : markdown(table.note) + "\n\n";
  return "### " + markdown(table.title) + "\n\n" + note + head + "\n" + rule + "\n" + body + "\n";
}

}  // namespace

std::string study_markdown(const Study& study) {
  std::string out = "## " + markdown(study.question) + "\n\n**" + mark_and_word(study.status) + "** " +
                    markdown(study.answer) + "\n\n";
  if (!study.message.empty()) out += markdown(study.message) + "\n\n";
  if (study.partial) out += "**Incomplete: interrupted.**\n\n";
  for (const StudyTable& table : study.tables) out += markdown_table(table);
  for (const std::string& note : study.notes) out += "- " + markdown(note) + "\n";
  if (!study.notes.empty()) out += "\n";
  return out + markdown(study.family + " " + study.name) + ", seed " + std::to_string(study.seed) + ", effort " +
         shortest(study.effort) + (study.device.empty() ? "" : ", " + markdown(study.device)) + ".\n";
}

}  // namespace tally
