#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/html/sections.hpp"
#include "reports/html/table.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

void case_row(Markup& page, Table& table, const CaseRecord& c) {
  const bool failed = c.status == Status::fail;
  auto row = table.row(class_of(c.status), failed ? "" : anchor_of(c), c.precision);
  row.status(c.status, failed ? "#" + anchor_of(c) : "");
  {
    const auto cell = row.open();
    page.text(c.title);
    page.element("small", {}, c.law);
  }
  row.cell(c.precision);
  row.cell(std::to_string(c.micro_batches));
  row.cell(significant(c.worst_local_ratio));
  row.cell(significant(c.worst_end_to_end_ratio));
  row.cell(c.first_stage.empty() && !c.worst.empty() ? c.worst.front().stage : c.first_stage);
  row.code(replay_command(c.token));
}

void case_table(Markup& page, const std::vector<const CaseRecord*>& cases, std::size_t from, std::size_t to) {
  Table table(page,
              "Cases " + std::to_string(from + 1) + " to " + std::to_string(to) + " of " + grouped(cases.size()) +
                  ", worst first",
              {"Verdict", "Case", "Precision", ">K", ">r local", ">r end to end", "Stage", "Replay"});
  for (std::size_t i = from; i < to; ++i) case_row(page, table, *cases[i]);
}

}  // namespace

void worst_cases_section(Markup& page, const Results& results) {
  if (results.cases.empty()) return;
  constexpr std::size_t open = 12;
  const auto section = page.open("section", {{"aria-labelledby", "worst"}});
  page.element("h2", {{"id", "worst"}}, "Worst cases");
  const auto cases = by_severity(results);
  const std::size_t shown = std::min(cases.size(), listed_cases), first = std::min(shown, open);
  case_table(page, cases, 0, first);
  if (first == shown) return;
  const auto details = page.open("details");
  page.element("summary", {}, "The next " + counted(shown - first, "case"));
  case_table(page, cases, first, shown);
}

}  // namespace tally
