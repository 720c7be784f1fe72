// Tests of paired differences, and an interval of their median.
#include "reports/statistics/paired.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>

namespace tally {

double binomial_tail(std::uint64_t least, std::uint64_t n, double share) {
  if (least == 0) return 1;
  if (least > n) return 0;
  const boost::math::binomial successes(static_cast<double>(n), share);
  return boost::math::cdf(boost::math::complement(successes, static_cast<double>(least - 1)));
}

double sign_test(std::uint64_t successes, std::uint64_t trials) { return binomial_tail(successes, trials, 0.5); }

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

double median_lower_limit(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), middle = (n + 1) / 2;
  std::size_t low = 1, high = n;  // the first k whose chance reaches the level
  while (low < high) {
    const std::size_t k = (low + high) / 2;
    const double reached = binomial_tail(middle, n, static_cast<double>(k) / static_cast<double>(n));
    if (reached >= level) {
      high = k;
    } else {
      low = k + 1;
    }
  }
  return values[low - 1];
}

double median_upper_limit(std::vector<double> values, double level) {
  for (double& value : values) value = -value;
  return -median_lower_limit(std::move(values), level);
}

std::vector<double> holm(const std::vector<double>& chances) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return chances[a] < chances[b]; });
  std::vector<double> corrected(chances.size());
  double so_far = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(order.size() - i) * chances[order[i]]));
    corrected[order[i]] = so_far;
  }
  return corrected;
}

}  // namespace tally
