// What a whole run tells.
#include "reports/census/conclusions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "reports/census/census.hpp"
#include "reports/record/record.hpp"
#include "reports/text/text.hpp"

namespace tally {

std::string clean_sentence(const Results& results) {
  std::uint64_t judged = 0;
  for (const CaseRecord& c : results.cases) {
    if (c.status == Status::fail || c.status == Status::error) return "";
    judged += was_judged(c.status);
  }
  if (judged == 0) return "";
  const double most = -std::expm1(std::log(0.05) / static_cast<double>(judged));
  return counted(judged, "case") + " judged, none failed: at most " + significant(most * 100) +
         " % of such cases would (95 %, Clopper and Pearson)";
}

namespace {

using Cases = std::vector<const CaseRecord*>;

Cases failing_cases(const Results& results) {
  Cases failing;
  for (const CaseRecord& c : results.cases) {
    if (c.status == Status::fail && !c.first_stage.empty()) failing.push_back(&c);
  }
  return failing;
}

/// The key with the largest count; of equals the first by name.
std::string most_common(const std::map<std::string, std::size_t>& counts) {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  return counts.empty() ? "" : std::max_element(counts.begin(), counts.end(), less)->first;
}

Cases of_most_common_stage(const Cases& failing) {
  std::map<std::string, std::size_t> counts;
  for (const CaseRecord* c : failing) ++counts[c->first_stage];
  const std::string stage = most_common(counts);
  Cases there;
  std::copy_if(failing.begin(), failing.end(), std::back_inserter(there),
               [&](const CaseRecord* c) { return c->first_stage == stage; });
  return there;
}

void name_suspect(LikelyCause& cause, const Cases& cases) {
  std::map<std::string, std::size_t> listed, first;
  for (const CaseRecord* c : cases) {
    std::set<std::string> names;
    for (const Suspicion& s : c->suspects) names.insert(s.name);
    for (const std::string& name : names) ++listed[name];
    if (!c->suspects.empty()) ++first[c->suspects.front().name];
  }
  std::erase_if(first, [&](const auto& named) { return 3 * listed[named.first] < cases.size(); });
  cause.suspect = most_common(first);
  if (cause.suspect.empty()) return;
  cause.listed = listed[cause.suspect];
  std::map<std::string, std::size_t> sentences;
  for (const CaseRecord* c : cases) {
    for (const Suspicion& s : c->suspects) sentences[s.sentence] += s.name == cause.suspect;
  }
  cause.sentence = most_common(sentences);
}

}  // namespace

std::optional<LikelyCause> likely_cause(const Results& results) {
  const Cases failing = failing_cases(results);
  if (failing.size() < 2) return std::nullopt;
  const Cases cases = of_most_common_stage(failing);
  LikelyCause cause;
  cause.stage = cases.front()->first_stage;
  cause.cases = cases.size();
  cause.failing = failing.size();
  name_suspect(cause, cases);
  return cause;
}

const CaseRecord* telling_failure(const Results& results) {
  const auto cause = likely_cause(results);
  const CaseRecord* first = nullptr;
  for (const CaseRecord* c : by_severity(results)) {
    if (c->status != Status::fail) break;
    const bool looks =
        !cause || cause->suspect.empty() || (!c->suspects.empty() && c->suspects.front().name == cause->suspect);
    if ((!cause || c->first_stage == cause->stage) && looks) return c;
    if (first == nullptr) first = c;
  }
  return first;
}

std::string likely_cause_sentence(const Results& results) {
  const auto cause = likely_cause(results);
  if (!cause) return "";
  const std::string where =
      grouped(cause->cases) + " of " + counted(cause->failing, "failing case") + " fail first at " + cause->stage;
  if (cause->suspect.empty()) return where + "; no suspect is common to them";
  return where + "; " + grouped(cause->listed) + " of them look like " + cause->suspect + ": " + cause->sentence;
}

SpreadTotals spread_totals(const Results& results) {
  SpreadTotals totals;
  for (const CaseRecord& c : results.cases) {
    totals.comparisons += c.comparisons;
    if (c.comparisons == 0) continue;
    if (c.status != Status::fail && verdict_of(c.least_log10_chance) != SpreadVerdict::expected) ++totals.warnings;
    if (totals.least == nullptr || c.least_log10_chance < totals.least->least_log10_chance) totals.least = &c;
  }
  return totals;
}

std::string spread_sentence(const Results& results) {
  const SpreadTotals totals = spread_totals(results);
  if (totals.least == nullptr) return "";
  const CaseRecord& least = *totals.least;
  return counted(totals.comparisons, "comparison") + ", " + counted(totals.warnings, "warning") + "; least chance " +
         power_of_ten(least.least_log10_chance) +
         (least.least_likely.empty() ? ""
                                     : " (" + least.least_likely + "; " + least.law + ", " + least.precision + ")") +
         "; fails below " + power_of_ten(log10_share(family_alpha)) + ", warns below " +
         power_of_ten(log10_share(warning_alpha)) + ": \u03b1 = 1e-9 and 1e-3 a campaign, Bonferroni among 2^30";
}

}  // namespace tally
