#include <algorithm>
#include <map>

#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
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

/// By the case nearest to a limit for its kind; of a law without cases that of its record.
double used_by(const Ranking& ranking, const LawRecord& law) {
  for (const CaseRecord* c : ranking.cases())
    if (c->law == law.name && was_judged(c->status)) return ranking.used(*c);
  return law.worst_ratio;
}

void law_row(Markup& page, Table& table, const Ranking& ranking, const LawRecord& law) {
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
  row.cell(significant(used_by(ranking, law)));
  control_cell(page, row, law);
  row.cell(std::to_string(law.faults.size()));
}

using Laws = std::vector<const LawRecord*>;

bool fails(const LawRecord& law) { return shown_status(law) == Status::fail || shown_status(law) == Status::error; }

/// Families with a failing law first, then by name.
std::vector<std::pair<std::string, Laws>> families_of(const Results& results) {
  std::map<std::string, Laws> by_name;
  for (const LawRecord& law : results.laws) by_name[law.family].push_back(&law);
  std::vector<std::pair<std::string, Laws>> families(by_name.begin(), by_name.end());
  const auto any_fails = [](const Laws& laws) {
    return std::any_of(laws.begin(), laws.end(), [](const LawRecord* law) { return fails(*law); });
  };
  std::stable_partition(families.begin(), families.end(), [&](const auto& family) { return any_fails(family.second); });
  return families;
}

std::string summary_of(const std::string& name, const Laws& laws) {
  std::uint64_t cases = 0;
  std::size_t failing = 0;
  for (const LawRecord* law : laws) cases += law->cases, failing += fails(*law);
  return (failing > 0 ? "\u2717 " : "") + (name.empty() ? "No family" : name) + ": " + counted(laws.size(), "law") +
         ", " + counted(cases, "case") + (failing > 0 ? ", " + std::to_string(failing) + " failing" : "");
}

void family_part(Markup& page, const Results& results, const std::string& name, const Laws& laws, bool open,
                 const Ranking& ranking) {
  const auto details = page.open("details", {{"open", open ? "open" : ""}});
  page.element("summary", {}, summary_of(name, laws));
  {
    Table table(
        page, "Laws of this family, with their controls and the number of seeded faults that break them",
        {"Verdict", "Law", ">Cases", ">Failed", ">Vacuous", ">Not run", ">Checks", ">Most used", "Control", ">Faults"});
    for (const LawRecord* law : laws) law_row(page, table, ranking, *law);
  }
  for (const LawRecord* law : laws) law_details(page, results, *law, ranking);
}

}  // namespace

void laws_section(Markup& page, const Results& results, const Ranking& ranking) {
  if (results.laws.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "laws"}});
  page.element("h2", {{"id", "laws"}}, "Laws");
  page.element("p", {},
               "A law is one sentence that must hold for every case. Its control is what must differ, so that a "
               "law that cannot fail is noticed. Most used: the largest share of a bound beyond its last rounding.");
  const auto families = families_of(results);
  for (const auto& [name, laws] : families) {
    const bool failing = std::any_of(laws.begin(), laws.end(), [](const LawRecord* law) { return fails(*law); });
    family_part(page, results, name, laws, failing || families.size() == 1, ranking);
  }
}

}  // namespace tally
