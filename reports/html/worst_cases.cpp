#include <map>
#include <utility>

#include "reports/census/census.hpp"
#include "reports/html/sections.hpp"
#include "reports/html/table.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/replay.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t open_cases = 12, of_each_precision = 3;

void case_row(Markup& page, Table& table, const CaseRecord& c, const Environment& ran, bool linked) {
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
  row.cell(significant(c.worst_local_ratio));
  row.cell(significant(c.worst_end_to_end_ratio));
  row.cell(c.first_stage.empty() && !c.worst.empty() ? c.worst.front().stage : c.first_stage);
  row.code(replay_command(c, ran));
}

using Ranked = std::vector<std::pair<std::size_t, const CaseRecord*>>;  // with its place among all, worst first

void case_table(Markup& page, const std::string& caption, const Ranked& cases, const Environment& ran) {
  Table table(page, caption, {"Verdict", "Case", "Precision", ">K", ">r local", ">r end to end", "Stage", "Replay"});
  for (const auto& [rank, c] : cases) case_row(page, table, *c, ran, rank < listed_cases);
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

void worst_cases_section(Markup& page, const Results& results) {
  if (results.cases.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "worst"}});
  page.element("h2", {{"id", "worst"}}, "Worst cases");
  const auto cases = by_severity(results);
  const auto [first, others] = parted(cases);
  case_table(page,
             "The worst " + std::to_string(first.size()) + " of " + grouped(cases.size()) +
                 " cases, those of each precision among them",
             first, results.environment);
  if (others.empty()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "The next " + counted(others.size(), "case"));
  case_table(page, "The next " + counted(others.size(), "case") + ", worst first", others, results.environment);
}

}  // namespace tally
