// What was judged, by operation, module and phase; what was not, and what all was held to.
#include <algorithm>

#include "reports/html/document.hpp"
#include "reports/html/table.hpp"
#include "reports/operations/operations_page.hpp"
#include "reports/operations/operations_words.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t kinds_at_once = 20, modules_at_once = 12, claims_at_once = 8;

std::string or_dash(std::int64_t count) { return count == 0 ? "\u2013" : grouped(static_cast<std::uint64_t>(count)); }

void count_rows(Markup& page, const std::string& caption, const char* what, const NamedCounts& all, std::size_t from,
                std::size_t to) {
  const auto any = [&](std::int64_t OperationCounts::*of) {
    return std::any_of(all.begin(), all.end(), [of](const auto& each) { return each.second.*of > 0; });
  };
  const bool undecided = any(&OperationCounts::undecided), vacuous = any(&OperationCounts::vacuous);
  std::vector<std::string> titles{what,      ">Failed",          ">Worst r",    "Worst at", ">Operations",
                                  ">Judged", ">Nothing to hold", ">Not judged", ">Elements"};
  if (undecided) titles.emplace_back(">Undecided");
  if (vacuous) titles.emplace_back(">Vacuous");
  Table table(page, caption, titles);
  for (std::size_t i = from; i < to; ++i) {
    const auto& [name, counts] = all[i];
    auto row = table.row(counts.failed > 0 ? "fail" : "");
    row.head(name);
    if (counts.failed > 0) {
      const auto cell = row.open("s fail tint-fail");
      page.text(std::string(mark_of(Status::fail)) + " " + or_dash(counts.failed));
    } else {
      row.cell(counts.held > 0 ? std::string(mark_of(Status::pass)) : "\u2013");
    }
    row.cell(counts.worst > 0 ? significant(counts.worst) : "\u2013");
    {
      const auto cell = row.open();
      if (counts.worst > 0) {
        page.element("p", {}, std::to_string(counts.at.number) + " " + short_name(counts.at.operation));
        page.element("small", {}, stand_text(counts.at));
      }
    }
    row.cell(or_dash(counts.operations));
    row.cell(or_dash(counts.held));
    row.cell(or_dash(counts.nothing));
    row.cell(or_dash(counts.not_judged));
    row.cell(or_dash(counts.elements));
    if (undecided) row.cell(or_dash(counts.undecided));
    if (vacuous) row.cell(or_dash(counts.vacuous));
  }
}

void count_section(Markup& page, const char* id, const char* title, const char* what,
                   const std::map<std::string, OperationCounts>& counts, std::size_t at_once) {
  if (counts.empty()) return;
  const NamedCounts all = by_concern(counts);
  const auto section = page.open("section", {{"aria-labelledby", id}});
  page.element("h2", {{"id", id}}, title);
  const std::size_t first = std::min(all.size(), at_once);
  count_rows(page, std::string(title) + ", failures and the largest r first", what, all, 0, first);
  if (first == all.size()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "and " + std::to_string(all.size() - first) + " more");
  count_rows(page, "The rest of them", what, all, first, all.size());
}

void reasons(Markup& page, const JudgedRecording& judged) {
  if (judged.not_judged.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "open"}});
  page.element("h2", {{"id", "open"}}, "Not judged");
  page.element("p", {},
               "The verdict says nothing of these. What reads their results is judged from the bits that they left.");
  Table table(page, "Why operations are not judged, the most frequent first",
              {"Why", ">Operations", "The first", "What to do"});
  for (const auto& [why, which] : by_number(judged)) {
    auto row = table.row();
    row.head(why);
    row.cell(or_dash(which.operations));
    {
      const auto cell = row.open();
      page.text(std::to_string(which.first.number) + " " + short_name(which.first.operation));
      page.element("small", {}, stand_text(which.first));
    }
    row.cell(next_step(why));
  }
}

void unseen(Markup& page, const JudgedRecording& judged) {
  if (judged.unseen.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "unseen"}});
  page.element("h2", {{"id", "unseen"}}, "Not seen");
  page.element("p", {}, "What ran and is in no recording.");
  const auto list = page.open("ul");
  for (const std::string& each : judged.unseen) page.element("li", {}, each + ".");
}

void claim_rows(Markup& page, const char* caption, const std::vector<std::pair<std::string, double>>& claims,
                std::size_t from, std::size_t to) {
  Table table(page, caption, {"Operation / format / claim", ">Number"});
  for (std::size_t i = from; i < to; ++i) {
    auto row = table.row();
    row.head(claims[i].first);
    row.cell(significant(claims[i].second));
  }
}

void profile(Markup& page, const JudgedRecording& judged) {
  const auto section = page.open("section", {{"aria-labelledby", "profile"}});
  page.element("h2", {{"id", "profile"}}, "Held to");
  page.element("p", {}, "All operations were held to " + profile_text(judged) + ".");
  if (judged.claims.empty()) return;
  const std::vector<std::pair<std::string, double>> claims(judged.claims.begin(), judged.claims.end());
  const std::size_t first = std::min(claims.size(), claims_at_once);
  claim_rows(page, "What its kernels claim beside that", claims, 0, first);
  if (first == claims.size()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "and " + counted(claims.size() - first, "more claim"));
  claim_rows(page, "The rest of the claims", claims, first, claims.size());
}

}  // namespace

void operations_tables(Markup& page, const JudgedRecording& judged) {
  count_section(page, "kinds", "Operations", "Operation", judged.by_operation, kinds_at_once);
  count_section(page, "modules", "Modules", "Module", judged.by_module, modules_at_once);
  count_section(page, "phases", "Phases", "Phase", judged.by_phase, kinds_at_once);
}

void operations_limits(Markup& page, const JudgedRecording& judged) {
  reasons(page, judged);
  unseen(page, judged);
  profile(page, judged);
}

}  // namespace tally
