// Failing cases, the worst of the others, in which order they stand, and how to read them.
#include <algorithm>
#include <map>
#include <utility>

#include "reports/census/census.hpp"
#include "reports/census/unusual.hpp"
#include "reports/html/document.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {

Ranking::Ranking(const Results& results) : usual_(results), cases_(by_unusualness(results, usual_)) {
  const auto end = cases_.begin() + static_cast<std::ptrdiff_t>(std::min(listed_cases, cases_.size()));
  listed_.insert(cases_.begin(), end);
  for (const CaseRecord& c : results.cases) used_[&c] = used_of(c, usual_);
}

std::string Ranking::link_to(const CaseRecord& c) const { return lists(c) ? "#" + anchor_of(c) : ""; }

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
      page.element("p", {{"class", "bad"}}, "\u2717 Seeded fault " + fault.name + " was not caught. " + fault.message);
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

namespace {

constexpr std::size_t open_cases = 12, of_each_precision = 3;

/// Which kernel comes nearest for its kind; of a failing case the stage that fails first.
void nearest_cells(Markup& page, Table::Row& row, const CaseRecord& c, const Usual& usual) {
  const OperationRecord* o = most_unusual(c, usual);
  const auto cell = row.open();
  if (o == nullptr) return page.text(c.first_stage.empty() ? "\u2013" : c.first_stage);
  page.text(o->operation + (o->variant.empty() ? "" : "/" + o->variant) + ": " + significant(o->standing.excess));
  page.element("small", {}, usual.text(o->operation, o->standing.format, o->standing.excess));
}

void case_row(Markup& page, Table& table, const CaseRecord& c, const Environment& ran, const Usual& usual,
              bool linked) {
  const bool failed = c.status == Status::fail;
  auto row = table.row(class_of(c.status), failed || !linked ? "" : anchor_of(c), c.precision);
  row.status(c.status, failed && linked ? "#" + anchor_of(c) : "");
  {
    const auto cell = row.open();
    page.text(c.title);
    page.element("small", {}, c.law);
  }
  row.cell(c.precision);
  row.cell(std::to_string(c.micro_batches));
  nearest_cells(page, row, c, usual);
  row.cell(c.drift_bound > 0 ? significant(c.rounding_drift / c.drift_bound) : "\u2013");
  row.cell(significant(ratio_of(c)));
  row.code(replay_command(c, ran));
}

using Ranked = std::vector<std::pair<std::size_t, const CaseRecord*>>;  // with its place among all, worst first

void case_table(Markup& page, const std::string& caption, const Ranked& cases, const Environment& ran,
                const Usual& usual) {
  Table table(
      page, caption,
      {"Verdict", "Case", "Precision", ">K", "Nearest for its kind", ">Gradient, end to end", ">Worst r", "Replay"});
  for (const auto& [rank, c] : cases) case_row(page, table, *c, ran, usual, rank < listed_cases);
}

/// The worst of all, and the worst of each precision, so that none is without a row when it is chosen; then the rest of
/// the listed ones.
std::pair<Ranked, Ranked> parted(const std::vector<const CaseRecord*>& cases) {
  std::pair<Ranked, Ranked> parts;
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (++seen[cases[i]->precision] <= of_each_precision || i < open_cases) {
      parts.first.emplace_back(i, cases[i]);
    } else if (i < listed_cases) {
      parts.second.emplace_back(i, cases[i]);
    }
  }
  return parts;
}

}  // namespace

void worst_cases_section(Markup& page, const Results& results, const Ranking& ranking) {
  if (results.cases.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "worst"}});
  page.element("h2", {{"id", "worst"}}, "Cases nearest to a limit");
  page.element(
      "p", {},
      "Failing cases first, then those whose share of the bound beyond the last rounding is rarest among clean tensors "
      "of the same kernel and format. Worst r includes the last rounding, so that it is often near 1.");
  const Usual& usual = ranking.usual();
  const auto& cases = ranking.cases();
  const auto [first, others] = parted(cases);
  case_table(page,
             "The first " + std::to_string(first.size()) + " of " + grouped(cases.size()) +
                 " cases, those of each precision among them",
             first, results.environment, usual);
  if (others.empty()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "The next " + counted(others.size(), "case"));
  case_table(page, "The next " + counted(others.size(), "case"), others, results.environment, usual);
}

namespace {

struct Term {
  const char* name;
  const char* meaning;
};

constexpr Term terms[] = {
    {"r", "error / bound of an element; the limit is 1. 0 where the error is 0, infinite where only the bound is 0."},
    {"excess",
     "What is used of a bound beyond its last rounding: (error - u) / (bound - u), u half an ulp as stored; the limit "
     "is 1. "
     "A bound of one rounding is always reached, so r alone would tell nothing."},
    {"bound", "The largest error that correct arithmetic of the declared formats can make. Derived, never tuned."},
    {"K", "The number of micro-batches in a window."},
    {"window", "One accumulation cycle, which ends in one optimizer step."},
    {"local lens",
     "Each stage against the exact function of its own input bits. The first stage that fails is the place."},
    {"end-to-end lens", "The whole window from its initial bits, value and bound carried through every stage."},
    {"semantic gap", "What the recipe changes against the full batch in exact arithmetic. 0 for an equivalent recipe."},
    {"rounding drift", "What the subject's arithmetic adds to the exact accumulated answer."},
    {"tap", "A tensor that the subject shows, with its exact bits."},
};

constexpr Term verdicts[] = {
    {"pass", "Every informative check is inside its bound."},
    {"fail", "A check is outside its bound, not finite where the answer is, or different where equality is promised."},
    {"vacuous", "The bound is wider than the signal, so the check shows nothing. It never counts as a pass."},
    {"not_run", "Nothing was judged; the reason stands beside it. It never counts as a pass."},
    {"error", "The case could not be run or judged."},
};

constexpr Term exit_codes[] = {
    {"0", "pass"},
    {"1", "a law, a seeded fault or the gate failed"},
    {"2", "wrong usage or unreadable input"},
    {"3", "the environment or Tally itself failed"},
    {"4", "nothing ran, or all of it was vacuous"},
    {"5", "the gate found only new cases, not blessed yet"},
    {"77", "the device asked for is absent"},
    {"130", "interrupted; what was found is kept and marked as incomplete"},
};

template <std::size_t n>
void list(Markup& page, const char* title, const Term (&entries)[n], bool marks = false) {
  page.element("h3", {}, title);
  const auto dl = page.open("dl");
  Status status = Status::pass;
  for (const Term& entry : entries) {
    page.element("dt", {}, marks ? mark_and_word(status) : entry.name);
    page.element("dd", {}, entry.meaning);
    status = static_cast<Status>(static_cast<int>(status) + 1);
  }
}

}  // namespace

void reading_section(Markup& page, const Results&) {
  const auto section = page.open("section", {{"aria-labelledby", "reading"}});
  page.element("h2", {{"id", "reading"}}, "How to read this page");
  ratio_formula(page);
  list(page, "Words", terms);
  list(page, "Verdicts", verdicts, true);
  list(page, "Exit codes", exit_codes);
  page.element("p", {{"class", "muted"}}, "All numbers of this page are in results.json, in full precision.");
}

}  // namespace tally
