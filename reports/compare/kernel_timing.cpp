#include "reports/compare/kernel_timing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reports/census/census.hpp"
#include "reports/compare/accuracy.hpp"
#include "reports/statistics/paired.hpp"

namespace tally {
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

}  // namespace tally
