#include <algorithm>
#include <map>

#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"
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

}  // namespace tally
