// The factor c of (divisor.2), and 1 / scale of (scaler.1), by the number of roundings that a subject claims. What
// (divisor.1) divides by may be split between them.
#include <numeric>

#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/window/bound_stages.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle {
namespace {

/// Where a constant may lie.
struct Interval {
  long double low, high;
};

Interval around(const Declared& declared, const Expected& x) {
  const long double e = declared.incoming(x.e(0, 0));
  return {x.v(0, 0) - e, x.v(0, 0) + e};
}

Interval times(Interval x, long double positive) { return {x.low * positive, x.high * positive}; }

/// Rounding is monotone, so the ends decide, each with the rounding of its own place.
Interval rounded_to_float(Interval x) {
  const auto nearest = [](long double end) {
    return static_cast<long double>(static_cast<float>(static_cast<double>(end)));
  };
  return {nearest(x.low), nearest(x.high)};
}

Interval widened(Interval x, long double relative) {
  return {x.low - std::fabs(x.low) * relative, x.high + std::fabs(x.high) * relative};
}

/// Over which a divisor is summed up: of a part of a case, all of it.
long double rows_of(const Case& part, std::size_t window) {
  const Case& c = whole_of(part);
  return static_cast<long double>(std::accumulate(c.windows[window].begin(), c.windows[window].end(), std::int64_t{0}));
}

/// A few operations of binary64, none of them a cancellation, over a divisor that is a sum over the window's rows.
Interval in_binary64(Interval x, const Case& c, std::size_t window) {
  return widened(x, (rows_of(c, window) + 16) * 0x1p-53L);
}

/// A sum of item weights in fp32: the float of an integer; else one rounding a weight and an addition.
Interval counted_in_fp32(const Declared& declared, long double n, const Case& c, std::size_t window) {
  if (n == std::floor(n)) return rounded_to_float({n, n});
  return widened({n, n}, gam(2 * static_cast<double>(rows_of(c, window)), single(declared).u()));
}

/// The quotient by a positive divisor. Undecided where it may be 0.
Interval quotient(Interval over, Interval by) {
  if (!(by.low > 0)) return {-static_cast<long double>(infinite), infinite};
  const long double ends[] = {over.low / by.low, over.low / by.high, over.high / by.low, over.high / by.high};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

Expected held_factor(long double exact, Interval by_subject) {
  const auto e = static_cast<double>(std::max(std::fabs(exact - by_subject.low), std::fabs(by_subject.high - exact)));
  return scalar(exact, e > 0 ? e * inflation : e);
}

bool by_window(const Declared& declared) { return declared.claims.divide == "window"; }

/// R K, over which micro-batches take their mean, or R over which ranks take theirs; the item weights' sum takes its
/// place where there is no such mean.
long double micro_batches(const Case& c, std::size_t window) {
  if (c.normalisation == Normalisation::mean_of_means_configured) return static_cast<long double>(c.windows[0].size());
  const std::size_t ranks = busy_ranks_of(whole_of(c), window);
  return static_cast<long double>(c.normalisation == Normalisation::rank_means ? ranks
                                                                               : ranks * c.windows[window].size());
}

/// The window's share of the divisor: N, K, or 1. 0 where N is.
long double window_divisor(const Case& c, std::size_t window) {
  if (c.normalisation == Normalisation::window_items) return divisor<long double>(c, window, 0);
  return c.normalisation == Normalisation::sum ? 1 : micro_batches(c, window);
}

/// What factor() divides the scale by. 0 where the factor is 0.
long double factor_divisor(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch) {
  const long double by = divisor<long double>(c, window, micro_batch), whole = window_divisor(c, window);
  return by_window(declared) && whole != 0 ? by / whole : by;
}

/// Whether a multiplication by it rounds nothing above the underflow threshold.
bool is_power_of_two(long double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5L;
}

/// fl(fl(scale / K) / n) where K n is the divisor. Otherwise two unknown operations of one rounding each. A
/// multiplication by the number of ranks is one more, unless it is a power of two.
Interval divided_twice(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch,
                       Interval scale, long double by) {
  const bool one_factor = by_window(declared) || c.normalisation == Normalisation::sum;
  const long double first = one_factor ? 1 : micro_batches(c, window);
  const long double second = one_factor ? by : micro_batch_items<long double>(c, window, micro_batch);
  const auto divided = [&](Interval x, long double n) {
    return rounded_to_float(quotient(x, counted_in_fp32(declared, n, c, window)));
  };
  const bool multiplied = !is_power_of_two(rank_multiple(c));
  if (first * second == by && !multiplied) return divided(divided(scale, first), second);
  const int operations = multiplied ? 3 : 2;
  const Interval exact =
      widened(quotient(scale, counted_in_fp32(declared, by, c, window)), gam(operations, single(declared).u()));
  const long double lost = operations * rank_multiple(c) * single(declared).underflow();
  return {exact.low - lost, exact.high + lost};
}

Interval factor_interval(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch,
                         const Expected& scale, long double by) {
  const Interval over = times(around(declared, scale), rank_multiple(c));
  if (declared.claims.factor == "binary64") return rounded_to_float(in_binary64(quotient(over, {by, by}), c, window));
  if (declared.claims.factor == "fp32")
    return rounded_to_float(quotient(over, counted_in_fp32(declared, by, c, window)));
  return divided_twice(declared, c, window, micro_batch, over, by);
}

}  // namespace

Expected factor(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch,
                const Expected& scale) {
  const long double by = factor_divisor(declared, c, window, micro_batch);
  if (by == 0) return scalar(0);
  return held_factor(rank_multiple(c) * scale.v(0, 0) / by,
                     factor_interval(declared, c, window, micro_batch, scale, by));
}

Expected predicted_factor(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch,
                          const Expected& scale) {
  const long double by = factor_divisor(declared, c, window, micro_batch);
  if (by == 0) return scalar(0);
  const Interval held_by_subject = factor_interval(declared, c, window, micro_batch, scale, by);
  const bool known = held_by_subject.low == held_by_subject.high;
  return known ? scalar(held_by_subject.low) : factor(declared, c, window, micro_batch, scale);
}

Expected inverse_scale(const Declared& declared, const Case& c, std::size_t window, const Expected& scale) {
  const long double whole = by_window(declared) ? window_divisor(c, window) : 1;
  if (whole == 0) return scalar(0);
  const Interval s = around(declared, scale);
  const Interval inverse = quotient({1 / whole, 1 / whole}, s);
  return held_factor(1 / (scale.v(0, 0) * whole), rounded_to_float(in_binary64(inverse, c, window)));
}

}  // namespace tally::oracle
