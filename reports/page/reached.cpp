#include "reports/page/reached.hpp"

#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/record/reached.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

std::string counted_items(const ReachedRow& row, bool seen) {
  std::string text;
  for (const ReachedRow::Item& item : row.items) {
    if ((item.seen > 0) != seen || !item.out_of_reach.empty()) continue;
    text += (text.empty() ? "" : "; ") + item.name + (seen ? " (" + grouped(item.seen) + ")" : "");
  }
  return text;
}

std::string out_of_reach(const ReachedRow& row) {
  std::string text;
  for (const ReachedRow::Item& item : row.items) {
    if (!item.out_of_reach.empty()) text += (text.empty() ? "" : "; ") + item.name + ": " + item.out_of_reach;
  }
  return text;
}

void reached_row(Markup& page, Table& table, const ReachedRow& found, bool required) {
  const bool all = found.seen() == found.wanted();
  const Status status = all ? Status::pass : required ? Status::fail : Status::not_run;
  auto row = table.row(class_of(status), anchor("reached-", found.group + " " + found.name));
  {
    const auto cell = row.open("s " + std::string(class_of(status)));
    page.text(std::string(mark_of(status)) + " " + std::to_string(found.seen()) + " of " +
              std::to_string(found.wanted()));
  }
  row.cell(found.group);
  row.cell(found.name.empty() ? "\u2013" : found.name);
  {
    const auto cell = row.open();
    page.text(counted_items(found, true));
    if (!all) page.element("small", {}, "NOT SEEN: " + counted_items(found, false));
    if (const std::string later = out_of_reach(found); !later.empty())
      page.element("small", {}, "out of reach: " + later);
  }
}

void reached_table(Markup& page, const std::vector<ReachedRow>& rows, const std::string& caption,
                   const std::vector<std::string>& titles, bool required) {
  if (rows.empty()) return;
  Table table(page, caption, titles);
  for (const ReachedRow& row : rows) reached_row(page, table, row, required);
}

}  // namespace

void reached_tables(Markup& page, const Results& results) {
  const bool required = triggers_are_missing(results);
  reached_table(page, reached_rows(results.triggers, "path"),
                "Every kernel in each of its precisions, and the ways its launches went (cases of each)",
                {"Reached", "Kernel", "Precision", "Ways"}, required);
  reached_table(page, reached_rows(results.triggers, "setting"),
                "Every kind of layer, loss and recipe section, and every word of ranks (cases of each)",
                {"Reached", "Of", "Name", "Drawn"}, required);
  reached_table(page, reached_rows(results.triggers, "option"), "Every option, and the values it took (cases of each)",
                {"Reached", "Of", "Option", "Values"}, required);
  reached_table(page, reached_rows(results.triggers, "size"),
                "Every size that code depends on, and the values it took around the edges (cases of each)",
                {"Reached", "Of", "Size", "Values"}, required);
}

}  // namespace tally
