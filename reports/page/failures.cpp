#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/html/rank_grid.hpp"
#include "reports/html/tensors.hpp"
#include "reports/html/view.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/failure_text.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t detailed_failures = 10;  // the tensors of further ones would say the same again

void failure(Markup& page, const CaseRecord& c, const Environment& ran, bool detailed) {
  const auto article = page.open(
      "article",
      {{"id", anchor_of(c)}, {"data-q", "c-" + c.id}, {"data-p", can_be_chosen(c.precision) ? c.precision : ""}});
  page.element("h3", {}, std::string(mark_of(c.status)) + " " + c.law + ", " + c.precision + ": " + c.title);
  page.element("pre", {{"class", "copy"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", "Failure c-" + c.id}},
               failure_text(c, ran));
  if (!detailed) return;
  rank_grid(page, c.ranks, c.title, c.first_tap);
  tensor_table(page, "Tensors of " + c.title + ", with the worst element of each", c.worst);
  tensor_elements(page, anchor_of(c), c.worst);
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
