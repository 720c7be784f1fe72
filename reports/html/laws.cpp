#include "reports/html/sections.hpp"
#include "reports/html/table.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

/// A law that ran and cannot fail is a failure, whatever its cases say.
Status shown_status(const LawRecord& law) { return control_is_missing(law) ? Status::fail : law.status; }

void control_cell(Markup& page, Table::Row& row, const LawRecord& law) {
  const auto cell = row.open();
  const bool ran = law.cases > law.not_run + law.vacuous;
  const Status status = !ran ? Status::not_run : law.control_differs ? Status::pass : Status::fail;
  const char* word = !ran ? "not run" : law.control_differs ? "differs" : "DOES NOT DIFFER";
  if (!law.control.empty())
    page.element("span", {{"class", "s " + class_of(status)}}, std::string(mark_of(status)) + " " + word);
  page.element("p", {}, law.control.empty() ? "none declared" : law.control);
}

void law_row(Markup& page, Table& table, const LawRecord& law) {
  const Status status = shown_status(law);
  auto row = table.row(class_of(status), anchor("law-", law.name));
  row.status(status);
  {
    const auto cell = row.open();
    {
      const auto strong = page.open("strong");
      law.cases > 0 ? page.element("a", {{"href", "#" + anchor("p-", law.name)}}, law.name) : page.text(law.name);
    }
    page.element("p", {}, law.statement);
    page.element("small", {}, law.family + (law.message.empty() ? "" : ": " + law.message));
  }
  row.cell(grouped(law.cases));
  row.cell(grouped(law.failed));
  row.cell(grouped(law.vacuous));
  row.cell(grouped(law.not_run));
  row.cell(grouped(law.checks));
  row.cell(significant(law.worst_ratio));
  control_cell(page, row, law);
  row.cell(std::to_string(law.faults.size()));
}

}  // namespace

void laws_section(Markup& page, const Results& results) {
  if (results.laws.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "laws"}});
  page.element("h2", {{"id", "laws"}}, "Laws");
  page.element("p", {},
               "A law is one sentence that must hold for every case. Its control is what must differ, so that a "
               "law that cannot fail is noticed.");
  {
    Table table(
        page, "Every law of this campaign, with its control and the number of seeded faults that break it",
        {"Verdict", "Law", ">Cases", ">Failed", ">Vacuous", ">Not run", ">Checks", ">Worst r", "Control", ">Faults"});
    for (const LawRecord& law : results.laws) law_row(page, table, law);
  }
  for (const LawRecord& law : results.laws) law_details(page, results, law);
}

}  // namespace tally
