// All laws at a glance, and each in detail.
#include <algorithm>
#include <map>

#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

bool has_law(const Results& results, const std::string& name) {
  return std::any_of(results.laws.begin(), results.laws.end(), [&](const LawRecord& law) { return law.name == name; });
}

/// The case of a group that stands first in the ranking: a failing one, or the nearest to a limit for its kind.
const CaseRecord* first_of(const Ranking& ranking, const CaseGroup& group) {
  for (const CaseRecord* c : ranking.cases())
    if (c->law == group.law && c->precision == group.precision && was_judged(c->status)) return c;
  return nullptr;
}

void matrix_cell(Markup& page, Table::Row& row, const Ranking& ranking, const CaseGroup* group) {
  if (!group) return row.cell("");
  const Status status = group->status();
  const CaseRecord* first = first_of(ranking, *group);
  const auto cell = row.open("tint-" + class_of(status));
  const std::string text =
      std::string(mark_of(status)) + " " + (first ? significant(ranking.used(*first)) : shown_word_of(status));
  const std::string link = first ? ranking.link_to(*first) : "";
  if (link.empty()) {
    page.text(text);
  } else {
    page.element("a", {{"href", link}}, text);
  }
  page.element("small", {}, counted(group->total, "case"));
}

void matrix(Markup& page, const Results& results, const Ranking& ranking) {
  const auto groups = groups_of(results);
  std::map<std::string, std::map<std::string, const CaseGroup*>> at;
  std::vector<std::string> titles = {"Law"};
  std::map<std::string, bool> seen;
  for (const CaseGroup& group : groups) at[group.law][group.precision] = &group, seen[group.precision] = true;
  std::vector<std::string> precisions;
  for (const std::string& p : precisions_of(results))
    if (seen[p]) precisions.push_back(p), titles.push_back(">" + p);
  Table table(
      page,
      "What the kernel nearest to a limit for its kind uses of its bound beyond the last rounding; the limit is 1",
      titles);
  for (auto& [law, cells] : at) {
    bool failing = false;
    for (const auto& [precision, group] : cells) failing |= group->status() == Status::fail;
    auto row = table.row(failing ? "fail" : "other");
    row.head(law, has_law(results, law) ? "#" + anchor("law-", law) : "");
    for (const std::string& p : precisions) matrix_cell(page, row, ranking, cells.contains(p) ? cells[p] : nullptr);
  }
}

}  // namespace

void overview_section(Markup& page, const Results& results, const Ranking& ranking) {
  const auto section = page.open("section", {{"aria-labelledby", "overview"}});
  page.element("h2", {{"id", "overview"}}, "Overview");
  if (results.cases.empty()) {
    page.element("p", {}, "No case ran, so there is nothing to show.");
    return;
  }
  ratio_figure(page, results, ranking);
  const auto details = page.open("details", {{"open", has_failures(results) ? "open" : ""}});
  page.element("summary", {}, "Every law in every precision");
  matrix(page, results, ranking);
}

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

// One law: which faults it catches, its figures, its worst cases, and all the others by precision and K.
namespace {

constexpr std::size_t shown_of_a_law = 3;

void faults(Markup& page, const Results& results, const LawRecord& law) {
  if (law.faults.empty()) return;
  const auto p = page.open("p");
  page.text("Seeded faults that break it: ");
  for (std::size_t i = 0; i < law.faults.size(); ++i) {
    const bool tried = std::any_of(results.faults.begin(), results.faults.end(),
                                   [&](const FaultRecord& f) { return f.name == law.faults[i]; });
    page.text(i == 0 ? "" : ", ");
    tried ? page.element("a", {{"href", "#" + anchor("fault-", law.faults[i])}}, law.faults[i])
          : page.element("code", {}, law.faults[i]);
  }
}

void worst_cases(Markup& page, const Ranking& ranking, const std::vector<const CaseRecord*>& cases) {
  const std::size_t shown = std::min(cases.size(), shown_of_a_law);
  Table table(
      page,
      "Cases of " + cases.front()->law + ", nearest to a limit, " + std::to_string(shown) + " of " +
          grouped(cases.size()),
      {"Verdict", "Case", "Precision", ">K", ">Most used", ">Worst r", ">Semantic gap", ">Rounding drift", "Id"});
  for (std::size_t i = 0; i < shown; ++i) {
    const CaseRecord& c = *cases[i];
    const std::string link = ranking.link_to(c);
    auto row = table.row(class_of(c.status), link.empty() ? anchor_of(c) : "", c.precision);
    row.status(c.status, link);
    row.cell(c.title);
    row.cell(c.precision);
    row.cell(std::to_string(c.micro_batches));
    row.cell(significant(ranking.used(c)));
    row.cell(significant(ratio_of(c)));
    row.cell(significant(c.semantic_gap));
    row.cell(significant(c.rounding_drift));
    row.code("c-" + c.id);  // its token, a kilobyte, is in results.json
  }
}

/// The cases of a law in one precision with the same K.
struct Roll {
  std::uint64_t cases = 0, passed = 0, vacuous = 0;
  std::vector<double> ratios;
};

void rolled_up(Markup& page, const Results& results, const Ranking& ranking,
               const std::vector<const CaseRecord*>& cases) {
  std::map<std::string, std::map<int, Roll>> rolls;
  for (const CaseRecord* c : cases) {
    Roll& roll = rolls[c->precision][c->micro_batches];
    ++roll.cases;
    roll.passed += c->status == Status::pass;
    roll.vacuous += c->status == Status::vacuous;
    if (was_judged(c->status)) roll.ratios.push_back(ranking.used(*c));
  }
  Table table(page, "All cases of " + cases.front()->law + " by precision and K; each one is in results.json",
              {"Precision", ">K", ">Cases", ">Passed", ">Vacuous", ">Median used", ">Most used"});
  for (const std::string& precision : precisions_of(results)) {
    for (const auto& [k, roll] : rolls[precision]) {
      auto row = table.row();  // not found by its precision: a thousand marks, and the page has a budget
      row.head(precision);
      row.cell(std::to_string(k));
      row.cell(grouped(roll.cases));
      row.cell(grouped(roll.passed));
      row.cell(grouped(roll.vacuous));
      row.cell(roll.ratios.empty() ? "" : significant(median_of(roll.ratios)));
      row.cell(roll.ratios.empty() ? "" : significant(worst_of(roll.ratios)));
    }
  }
}

/// Whether a law has figures: the first failing laws alone do, as a bug breaks many, and their figures say the same
/// again.
bool has_figures(const Results& results, const LawRecord& law) {
  constexpr int most = 8;
  int before = 0;
  for (const LawRecord& other : results.laws) {
    if (&other == &law) return law.failed > 0 && before < most;
    before += other.failed > 0;
  }
  return false;
}

}  // namespace

void law_details(Markup& page, const Results& results, const LawRecord& law, const Ranking& ranking) {
  std::vector<const CaseRecord*> cases;
  for (const CaseRecord* c : ranking.cases())
    if (c->law == law.name) cases.push_back(c);
  if (cases.empty()) return;
  page.newline();
  const auto details = page.open("details");
  page.element("summary", {}, law.name + ": " + counted(cases.size(), "case") + ", figures");
  page.element("h3", {{"id", anchor("p-", law.name)}}, law.name);
  page.element("p", {}, law.statement);
  faults(page, results, law);
  worst_cases(page, ranking, cases);
  if (has_figures(results, law)) ratio_figure(page, results, ranking, law.name), bound_figure(page, results, law.name);
  rolled_up(page, results, ranking, cases);
}

}  // namespace tally
