#include <map>
#include <utility>

#include "reports/census/census.hpp"
#include "reports/census/unusual.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/replay.hpp"
#include "reports/text/words.hpp"

namespace tally {
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
  page.element("p", {},
               "Failing cases first, then by how few clean tensors of the same kernel and format use as much of their "
               "bound beyond the last rounding. Worst r counts that rounding too: next to 1 it is no accident.");
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

}  // namespace tally
