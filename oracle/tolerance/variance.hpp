// Mean and biased variance of n values by each algorithm that a subject may declare. Every rule holds for any order of
// additions and has the same value; only the bound differs. Derivations: oracle/variants.md, "Variance".
// Defined in variance.cpp, welford.cpp.
#pragma once

#include <vector>

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// n values as a subject may hold them (x within e of v), reduced to what the rules need.
struct Sample {
  double n = 0;
  double mean = 0, variance = 0;      // of the v; NaN where one of them is not finite
  double moved_mean = 0, moved = 0;   // mean and root mean square of the e
  double magnitude = 0, largest = 0;  // mean and maximum of |v| + e
  double finite_magnitude = 0;        // mean of those with a finite v
  double square = 0;                  // mean of (|v| + e)^2

  bool finite() const;
  /// The variance moves by at most this when every x moves by its e.
  double passed_on() const;
};
Sample sample_of(const std::vector<Bounded>& x);

struct MeanAndVariance {
  Bounded mean, variance;
};

/// mean = fl(sum fl(1/n)), var = fl(sum fl(d d) fl(1/n)) with d = fl(x - mean). `height`: of the additions.
MeanAndVariance two_pass(const Declared& declared, double height, const Sample& x);

/// var = max(0, fl(fl(sum fl(x x) fl(1/n)) - fl(mean mean))).
MeanAndVariance one_pass(const Declared& declared, double height, const Sample& x);

/// Sequential updates and merges of parts (Chan) in any tree of `height` merges: delta = fl(m_b - m_a),
/// m = fl(m_a + fl(delta fl(n_b/n))), M = fl(fl(M_a + M_b) + fl(fl(delta delta) fl(n_a n_b/n))); one value x is a part
/// with n_b = 1, for which M = fl(M_a + fl(delta fl(x - m))) too. Demands n_b <= 2 n_a. var = fl(M fl(1/n)).
MeanAndVariance welford(double height, const Sample& x);

}  // namespace tally::oracle
