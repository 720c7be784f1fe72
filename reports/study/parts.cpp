#include "reports/study/parts.hpp"

#include <algorithm>

#include "reports/html/table.hpp"
#include "reports/study/cells.hpp"
#include "reports/text/numbers.hpp"

namespace tally {

void study_table(Markup& page, const StudyTable& shown, std::size_t rows_at_most) {
  page.element("h3", {}, shown.title);
  std::vector<std::vector<std::string>> cells;
  for (const StudyColumn& column : shown.columns) cells.push_back(cells_of(column));
  Table table(page, shown.note.empty() ? shown.title : shown.note, titles_of(shown));
  const std::size_t rows = rows_of(shown), kept = std::min(rows, rows_at_most);
  for (std::size_t i = 0; i < kept; ++i) {
    auto row = table.row();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string text = i < cells[k].size() ? cells[k][i] : "";
      k == 0 ? row.head(text) : row.cell(text);
    }
  }
  if (kept < rows) table.row().head("and " + grouped(rows - kept) + " more, in the study's own page");
}

std::string origin_of(const Study& study) {
  const Environment& e = study.environment;
  std::string text = "Measured by tally " + study.family + " " + study.name + ", seed " + std::to_string(study.seed) +
                     ", effort " + shortest(study.effort);
  for (const std::string& part : {study.device, e.compiler, e.flags})
    if (!part.empty()) text += ", " + part;
  text += "; Tally " + (e.tally_version.empty() ? "of unknown version" : e.tally_version);
  return text + (study.tree.empty() ? ", commit not recorded" : ", commit " + study.tree);
}

}  // namespace tally
