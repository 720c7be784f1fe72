// Which of two programs is faster, and which of their kernel operations.
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include "reports/census/census.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/compare/entry.hpp"
#include "reports/statistics/paired.hpp"
#include "reports/summary/summary.hpp"
#include "reports/text/text.hpp"

namespace tally {

Timing timing_of(std::vector<double> before, std::vector<double> now) {
  if (before.size() != now.size() || before.empty())
    throw std::invalid_argument("timing: expected as many runs of one program as of the other, and one at least");
  Timing timing{std::move(before), std::move(now), 1, 1, 1, "undecided"};
  std::vector<double> ratios, growth, fall;
  for (std::size_t i = 0; i < timing.now.size(); ++i) {
    ratios.push_back(timing.now[i] / timing.before[i]);
    growth.push_back(timing.now[i] - timing.before[i]);
    fall.push_back(-growth.back());
  }
  timing.factor = median_of(ratios);
  timing.low = median_lower_limit(ratios, false_verdict_chance);
  timing.high = median_upper_limit(ratios, false_verdict_chance);
  if (signed_rank_test(growth) <= false_verdict_chance && timing.low > 1) timing.verdict = "slower";
  if (signed_rank_test(fall) <= false_verdict_chance && timing.high < 1) timing.verdict = "faster";
  return timing;
}

std::string text_of(const Timing& timing) {
  return "time of the campaign " + significant(timing.factor) + "x [" + significant(timing.low) + ", " +
         significant(timing.high) + "] " + timing.verdict + ", " + counted(timing.now.size(), "pair") + " of runs";
}

namespace {

using TimedPlace = std::pair<std::string, std::string>;              // operation, precision
using Logs = std::map<std::pair<std::string, std::string>, double>;  // of now / before, by law and case
using Chances = std::pair<double, double>;                           // slower, faster

std::map<TimedPlace, Logs> logs_of(const TimedPair& pair) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, double> before;
  for (const KernelTime& t : pair.before) before[{t.operation, t.precision, t.law, t.id}] = t.seconds;
  std::map<TimedPlace, Logs> logs;
  for (const KernelTime& t : pair.now) {
    const auto same = before.find({t.operation, t.precision, t.law, t.id});
    if (same == before.end() || !(same->second > 0) || !(t.seconds > 0)) continue;
    logs[{t.operation, t.precision}][{t.law, t.id}] = std::log(t.seconds / same->second);
  }
  return logs;
}

std::vector<double> values_of(const Logs& logs) {
  std::vector<double> values;
  for (const auto& [name, value] : logs) values.push_back(value);
  return values;
}

/// The means of the cases that every pair has.
std::vector<double> means_of(const std::vector<Logs>& pairs) {
  std::vector<double> means;
  for (const auto& [name, first] : pairs.front()) {
    double sum = 0;
    const bool everywhere = std::all_of(pairs.begin(), pairs.end(), [&](const Logs& logs) {
      const auto same = logs.find(name);
      if (same != logs.end()) sum += same->second;
      return same != logs.end();
    });
    if (everywhere) means.push_back(sum / static_cast<double>(pairs.size()));
  }
  return means;
}

KernelTiming measured(const TimedPlace& place, const std::vector<Logs>& pairs, Chances& chances) {
  KernelTiming timing{place.first, place.second, 0, pairs.size(), 1, 1, 1, "undecided"};
  std::vector<double> means = means_of(pairs);
  timing.cases = means.size();
  if (means.empty()) return timing;
  double low = median_lower_limit(means, false_verdict_chance), high = median_upper_limit(means, false_verdict_chance);
  for (const Logs& logs : pairs) {
    const double own = median_of(values_of(logs));
    low = std::min(low, own), high = std::max(high, own);
  }
  timing.factor = std::exp(median_of(means)), timing.low = std::exp(low), timing.high = std::exp(high);
  chances.first = signed_rank_test(means);
  for (double& mean : means) mean = -mean;
  chances.second = signed_rank_test(means);
  return timing;
}

void settle(std::vector<KernelTiming>& timings, const std::vector<Chances>& chances) {
  std::vector<double> slower, faster;
  for (const auto& [up, down] : chances) slower.push_back(up), faster.push_back(down);
  slower = holm(slower), faster = holm(faster);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    KernelTiming& t = timings[i];
    if (t.pairs < deciding_pairs || t.cases == 0) continue;
    if (t.low > tolerated_slowdown && slower[i] <= false_verdict_chance) t.verdict = "slower";
    if (t.high < 1 / tolerated_slowdown && faster[i] <= false_verdict_chance) t.verdict = "faster";
    if (t.low >= 1 / tolerated_slowdown && t.high <= tolerated_slowdown) t.verdict = "same";
  }
}

}  // namespace

std::vector<KernelTiming> kernel_timings_of(const std::vector<TimedPair>& pairs) {
  std::map<TimedPlace, std::vector<Logs>> strata;
  for (const TimedPair& pair : pairs)
    for (auto& [place, logs] : logs_of(pair)) strata[place].push_back(std::move(logs));
  std::vector<KernelTiming> timings;
  std::vector<Chances> chances;
  for (const auto& [place, logs] : strata) {
    chances.emplace_back(1, 1);
    timings.push_back(measured(place, logs, chances.back()));
  }
  settle(timings, chances);
  return timings;
}

namespace {

using Row = std::vector<std::string>;

bool is_decided(const KernelTiming& t) { return t.verdict == "slower" || t.verdict == "faster"; }

/// Slower ones first, by how much.
std::vector<Row> rows_of(const std::vector<KernelTiming>& timings) {
  std::vector<const KernelTiming*> decided;
  for (const KernelTiming& t : timings)
    if (is_decided(t)) decided.push_back(&t);
  std::stable_sort(decided.begin(), decided.end(), [](const auto* a, const auto* b) { return a->factor > b->factor; });
  std::vector<Row> rows;
  for (const KernelTiming* t : decided)
    rows.push_back({t->operation, t->precision, t->verdict, significant(t->factor) + "x",
                    "[" + significant(t->low) + ", " + significant(t->high) + "]", grouped(t->cases),
                    grouped(t->pairs)});
  return rows;
}

/// "Time of 36 kernel operations: 30 the same, 6 undecided, medians 0.97x to 1.08x".
std::string others(const std::vector<KernelTiming>& timings) {
  std::size_t count = 0, same = 0;
  bool decides = true;
  double low = 0, high = 0;
  for (const KernelTiming& t : timings) {
    if (is_decided(t)) continue;
    low = count == 0 ? t.factor : std::min(low, t.factor), high = count == 0 ? t.factor : std::max(high, t.factor);
    ++count, same += t.verdict == "same", decides = decides && t.pairs >= deciding_pairs;
  }
  if (count == 0) return "";
  const bool all = count == timings.size();
  std::string text = std::string("time of ") + (all ? "" : "the other ") + counted(count, "kernel operation") + ": " +
                     grouped(same) + " the same, " + grouped(count - same) + " undecided; medians " + significant(low) +
                     "x to " + significant(high) + "x";
  if (!decides) text += "; --repeat " + std::to_string(deciding_pairs) + " can decide";
  return text + "\n";
}

}  // namespace

std::string kernel_timings_text(const std::vector<KernelTiming>& timings) {
  std::vector<Row> rows{{"  Operation", "Precision", "Time", ">Factor", "Limits", ">Cases", ">Pairs"}};
  for (Row& row : rows_of(timings)) row.front().insert(0, "  "), rows.push_back(std::move(row));
  return (rows.size() > 1 ? "Kernel operations whose time changed\n" + columns(rows) : "") + others(timings);
}

std::string kernel_timings_markdown(const std::vector<KernelTiming>& timings) {
  const std::vector<Row> rows = rows_of(timings);
  std::string out;
  if (!rows.empty()) {
    out = "\n### Kernel times\n\n| Operation | Precision | Time | now / before | Limits | Cases | Pairs of runs |\n";
    out += "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Row& row : rows) {
      out += "|";
      for (const std::string& cell : row) out += " " + markdown(cell) + " |";
      out += "\n";
    }
  }
  const std::string rest = others(timings);
  return rest.empty() ? out : out + "\n" + rest;
}

}  // namespace tally
