// One law: which faults it catches, its figures, its worst cases, and all the others by precision and K.
#include <algorithm>
#include <map>

#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
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
