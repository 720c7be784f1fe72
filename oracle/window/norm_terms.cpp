#include "oracle/window/norm_terms.hpp"

#include <cmath>
#include <numeric>

#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/each_stretch.hpp"

namespace tally::oracle {
namespace {

bool is_signed_power_of_two(double x) {
  int exponent = 0;
  return std::fabs(std::frexp(x, &exponent)) == 0.5;
}

double squared(double x) { return x * x; }

}  // namespace

double NormTerms::count() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }

void NormTerms::add(const Choice& clip, const Expected& gradient) {
  const NormOrder order = norm_of(clip);
  counts.push_back(0);
  each_stretch(gradient, [&](const Expected& next) {
    counts.back() += static_cast<double>(next.v.size());
    for (Eigen::Index i = 0; i < next.v.size(); ++i) {
      const long double exact = std::fabs(next.v.data()[i]);
      const double v = static_cast<double>(exact), bound = incoming(next.e.data()[i]);
      finite = finite && std::isfinite(v);
      largest_e = std::max(largest_e, bound);
      sum_e += bound;
      squares_e += bound * bound;
      sum += v + bound;
      squares += squared(v + bound);
      if (order == NormOrder::one) power_sum += exact;
      if (order == NormOrder::two) power_sum += exact * exact;
      if (order == NormOrder::largest) power_sum = larger(power_sum, exact);
    }
  });
}

void NormTerms::add(const Choice& clip, const NormTerms& more) {
  const bool largest = norm_of(clip) == NormOrder::largest;
  power_sum = largest ? larger(power_sum, more.power_sum) : power_sum + more.power_sum;
  largest_e = std::max(largest_e, more.largest_e);
  sum_e += more.sum_e;
  squares_e += more.squares_e;
  sum += more.sum;
  squares += more.squares;
  finite = finite && more.finite;
  counts.insert(counts.end(), more.counts.begin(), more.counts.end());
}

NormTerms NormTerms::times(const Choice& clip, const Expected& factor) const {
  const Arithmetic fp32 = single();
  const Bounded by = element(factor, 0, 0);
  const double size = (std::fabs(by.v) + by.e) * inflation;
  const bool exact = by.e == 0 && is_signed_power_of_two(by.v);
  const double off = (by.e + (exact ? 0 : fp32.u() * size)) * inflation;  // of each product, relative to |v| + e
  const double lost = size >= 1 && exact ? 0 : fp32.underflow();
  const long double scale = std::fabs(factor.v(0, 0));
  NormTerms all = *this;
  const bool two = norm_of(clip) == NormOrder::two;
  all.power_sum = power_sum * (two ? scale * scale : scale);
  all.largest_e = (size * largest_e + off * (static_cast<double>(power_sum) + largest_e) + lost) * inflation;
  all.sum_e = (size * sum_e + off * sum + count() * lost) * inflation;
  all.squares_e =
      squared((size * std::sqrt(squares_e) + off * std::sqrt(squares) + std::sqrt(count()) * lost) * inflation);
  all.sum = (size + off) * sum + count() * lost;
  all.squares = squared((size + off) * std::sqrt(squares) + std::sqrt(count()) * lost);
  return all;
}

NormTerms terms_of_squares(double count, double sum_of_squares) {
  NormTerms terms;
  terms.counts = {count};
  terms.finite = std::isfinite(sum_of_squares);
  terms.power_sum = sum_of_squares;
  terms.squares = sum_of_squares;
  terms.sum = std::sqrt(count * sum_of_squares) * inflation;  // Cauchy
  // The observer's sum is off by (count) 2^-53 of itself at most: as if the elements were off by half of that together.
  terms.squares_e = squared(count * 0x1p-53 * std::sqrt(sum_of_squares)) * inflation;
  return terms;
}

}  // namespace tally::oracle
