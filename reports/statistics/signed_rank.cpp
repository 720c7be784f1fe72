#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/statistics/paired.hpp"

namespace tally {
namespace {

constexpr std::size_t counted_exactly = 30;

/// Twice the ranks of the sizes, which are whole numbers even where ties share a rank; and the correction for ties.
struct Ranks {
  std::vector<std::size_t> doubled;
  double ties = 0;  // sum of t^3 - t over groups of t equal sizes
};

Ranks ranks_of(const std::vector<double>& differences) {
  std::vector<std::size_t> order(differences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return std::fabs(differences[i]); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
  Ranks ranks;
  ranks.doubled.resize(order.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && size(order[last]) == size(order[first])) ++last;
    for (std::size_t i = first; i < last; ++i) ranks.doubled[order[i]] = first + 1 + last;
    const auto t = static_cast<double>(last - first);
    ranks.ties += t * t * t - t;
  }
  return ranks;
}

/// The share of all signs whose positive ranks come to at least `sum`.
double by_counting(const std::vector<std::size_t>& doubled, std::size_t sum) {
  const std::size_t most = std::accumulate(doubled.begin(), doubled.end(), std::size_t{0});
  std::vector<double> ways(most + 1);
  ways[0] = 1;
  for (const std::size_t rank : doubled)
    for (std::size_t s = most; s >= rank; --s) ways[s] += ways[s - rank];
  const double reached = std::accumulate(ways.begin() + static_cast<std::ptrdiff_t>(sum), ways.end(), 0.0);
  return std::ldexp(reached, -static_cast<int>(doubled.size()));
}

double by_normal(std::size_t count, double ties, double sum) {
  const auto n = static_cast<double>(count);
  const double mean = n * (n + 1) / 4, variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
  return std::erfc((sum - mean - 0.5) / std::sqrt(2 * variance)) / 2;
}

}  // namespace

double signed_rank_test(const std::vector<double>& differences) {
  std::vector<double> some;
  for (const double d : differences)
    if (d != 0) some.push_back(d);
  if (some.empty()) return 1;
  const Ranks ranks = ranks_of(some);
  std::size_t positive = 0;
  for (std::size_t i = 0; i < some.size(); ++i)
    if (some[i] > 0) positive += ranks.doubled[i];
  if (some.size() <= counted_exactly) return by_counting(ranks.doubled, positive);
  return by_normal(some.size(), ranks.ties, static_cast<double>(positive) / 2);
}

}  // namespace tally
