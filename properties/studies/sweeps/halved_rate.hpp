// The order p of a distance d(h) = C h^p (1 + c h + …) in the learning rate h, from rates halved again and again.
// A fitted line would carry the term c h along as if it were scatter; halving takes it off.
#pragma once

#include <string>
#include <vector>

namespace tally {

struct RateOrder {
  double value = 0, low = 0, high = 0;
  /// False where any of it is NaN.
  bool contains(double order) const { return low <= order && order <= high; }
};

/// `distances[i]` at rate h / 2^i, at least four of them; the last four count. p(h) = log2 d(2h) - log2 d(h) is
/// p + x + y up to third order, x of first and y of second order in h, so that p(2h) - p(h) = x + 3 y and
/// p(4h) - p(2h) = 2 x + 12 y. The interval reaches 2 |x + 3 y| + |2 x + 12 y| >= |x + y| to each side.
RateOrder order_in_rate(const std::vector<double>& distances);

/// "1.9998 (1.9995 to 2.0001)".
std::string words_of(const RateOrder& order);

}  // namespace tally
