#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/html/sections.hpp"
#include "reports/html/table.hpp"
#include "reports/html/view.hpp"
#include "reports/text/failure_text.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t detailed_failures = 10;  // the tensors of further ones would say the same again

void both_texts(Markup& page, Table::Row& row, double value) {
  const auto cell = row.open();
  page.text(shortest(value));
  page.element("small", {}, hexadecimal_text(value));
}

void check_row(Markup& page, Table& table, const TensorCheck& t) {
  auto row = table.row(class_of(t.status));
  {
    const auto cell = row.open();
    page.element("code", {}, t.tap);
    page.element("small", {}, t.lens + " lens, stage " + t.stage);
    if (!t.message.empty()) page.element("small", {}, t.message);
  }
  row.status(t.status);
  row.cell(significant(t.worst_ratio));
  row.cell(significant(t.error));
  {
    const auto cell = row.open();
    page.text(significant(t.bound));
    if (const std::string terms = text_of(t.terms); !terms.empty()) page.element("small", {}, terms);
  }
  both_texts(page, row, t.expected);
  both_texts(page, row, t.got);
  row.cell(t.expected == 0 ? "" : significant(t.got / t.expected));
  row.cell(index_text(t.worst_index));
  row.cell(grouped(t.elements));
  row.cell(grouped(t.differing));
  row.cell(grouped(t.over_bound));
  row.cell(grouped(t.non_finite));
}

void census_table(Markup& page, const CaseRecord& c) {
  if (c.worst.empty()) return;
  Table table(page, "Tensors of " + c.title + ", with the worst element of each",
              {"Tap", "Verdict", ">r", ">Error", ">Bound", ">Expected", ">Got", ">Got / expected", "Worst at",
               ">Elements", ">Differ", ">Over bound", ">Not finite"});
  for (const TensorCheck& t : c.worst) check_row(page, table, t);
}

void worst_elements(Markup& page, const TensorCheck& t) {
  if (t.elements_worst.empty()) return;
  Table table(page, "Worst elements of " + t.tap,
              {"Index", ">Expected", ">Got", ">Error", ">Bound", ">r", ">Got / expected"});
  for (const ElementCheck& x : t.elements_worst) {
    auto row = table.row();
    row.head(index_text(x.index));
    both_texts(page, row, x.expected);
    both_texts(page, row, x.got);
    row.cell(significant(x.error));
    row.cell(significant(x.bound));
    row.cell(significant(x.error / x.bound));
    row.cell(x.expected == 0 ? "" : significant(x.got / x.expected));
  }
}

/// Elements and figures of the first tensor that has any; more would say the same again.
void elements(Markup& page, const CaseRecord& c) {
  for (const TensorCheck& t : c.worst) {
    if (t.elements_worst.empty() && t.profile.stretch == 0) continue;
    const auto details = page.open("details");
    page.element("summary", {}, "Elements of " + t.tap);
    worst_elements(page, t);
    element_map(page, anchor_of(c) + "-map", t);
    return element_figures(page, anchor_of(c), t);
  }
}

void failure(Markup& page, const CaseRecord& c, const Environment& ran, bool detailed) {
  const auto article = page.open(
      "article",
      {{"id", anchor_of(c)}, {"data-q", "c-" + c.id}, {"data-p", can_be_chosen(c.precision) ? c.precision : ""}});
  page.element("h3", {}, std::string(mark_of(c.status)) + " " + c.law + ", " + c.precision + ": " + c.title);
  page.element("pre", {{"class", "copy"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", "Failure c-" + c.id}},
               failure_text(c, ran));
  if (!detailed) return;
  census_table(page, c);
  elements(page, c);
}

void other_failures(Markup& page, const Results& results) {
  for (const LawRecord& law : results.laws) {
    if (control_is_missing(law))
      page.element("p", {{"class", "bad"}},
                   "\u2717 Law " + law.name + " cannot fail here: what must differ does not. Control: " + law.control);
    const bool explained = std::any_of(results.cases.begin(), results.cases.end(), [&law](const CaseRecord& c) {
      return c.law == law.name && c.status == Status::fail;
    });
    if (law.status == Status::fail && !explained && !control_is_missing(law))
      page.element("p", {{"class", "bad"}}, "\u2717 Law " + law.name + " failed. " + law.message);
  }
  for (const FaultRecord& fault : results.faults)
    if (!fault.caught)
      page.element("p", {{"class", "bad"}}, "\u2717 Seeded fault " + fault.name + " got away. " + fault.message);
  for (const TrainingRecord& t : results.training)
    if (t.status == Status::fail)
      page.element("p", {{"class", "bad"}},
                   "\u2717 Training " + t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut + " failed. " +
                       t.message);
}

}  // namespace

bool has_failures(const Results& results) { return verdict_of(results) == Status::fail; }

void failures_section(Markup& page, const Results& results) {
  if (!has_failures(results)) return;
  const auto section = page.open("section", {{"aria-labelledby", "failures"}});
  page.element("h2", {{"id", "failures"}}, "Failures");
  other_failures(page, results);
  std::size_t shown = 0, failed = 0;
  for (const CaseRecord* c : by_severity(results)) {
    if (c->status != Status::fail) break;
    if (++failed > listed_cases) continue;
    failure(page, *c, results.environment, shown < detailed_failures);
    ++shown;
  }
  if (failed > shown)
    page.element("p", {}, "And " + counted(failed - shown, "failing case") + " more: see results.json.");
}

}  // namespace tally
