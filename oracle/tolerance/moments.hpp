// Mean and biased variance by each algorithm that a subject may declare, and those of parts that ranks merge. Defined
// in moments.cpp, pooled_moments.cpp.
#pragma once

#include <vector>

#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

// (layer_norm.1), (layer_norm.2) and (layer_norm.3) of n values, which may be a column as well, by the algorithm that a
// claim names (bounds: oracle/variants.md).

struct Moments {
  Bounded mean, var, rstd;
};

/// The claim's algorithm: two_pass, one_pass or welford (oracle/tolerance/moments.hpp); "" and "any" take the largest
/// bound of them. Throws std::logic_error for another one.
Moments sample_moments(const Declared& declared, const KernelClaim& claim, const std::vector<Bounded>& x, Bounded eps);

/// Mean and variance alone, of a sample that is reduced already; throws likewise.
struct MeanAndVariance;
struct Sample;
MeanAndVariance sample_statistics(const Declared& declared, const KernelClaim& claim, const Sample& x);

/// fl(1 / fl(sqrt fl(var + eps))), or a function within 2 ulp of 1 / sqrt, which covers the quotient too (claim
/// `rsqrt`, and a claim without an algorithm). The subject's var is not negative, so its sum with eps is at least eps.
Bounded rstd_of(const Declared& declared, Bounded var, Bounded eps, bool by_function);

// Mean and biased variance of n values by each algorithm that a subject may declare. Every rule holds for any order of
// additions and has the same value; only the bound differs. Derivations: oracle/variants.md, "Variance".

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
MeanAndVariance welford(const Declared& declared, double height, const Sample& x);

// Mean and variance of parts merged in order, each with its count, as PyTorch's batch_norm_gather_stats_with_counts does:
//   f = fl(1 / (n + c)),  d = fl(avg - mean)
//   M = fl(M + fl(fl(var c) + fl(fl(fl(fl(d d) n) c) f))),  avg = fl(fl(fl(n f) avg) + fl(fl(c f) mean)),  n = n + c
// from n = avg = M = 0 on, and var = fl(M / n) at the end. Derivation: oracle/variants.md, "Moments of ranks".

/// What a subject holds of one part. mean.e and var.e bound what it holds against the exact moments of its own values;
/// these may be others than the values that are meant, which moves the exact mean of the part by `moved` at most.
struct Moment {
  double count = 0;
  Bounded mean, var;
  double moved = 0;
};

/// How far the values that the subject holds may be from those that are meant: `mean` moves the mean of all, `variance`
/// their variance.
struct MovedValues {
  double mean = 0, variance = 0;
};

/// The moments of all parts; those without values are left out. At least one has some.
MeanAndVariance merged_moments(const Declared& declared, const std::vector<Moment>& parts,
                               const MovedValues& moved = {});

// What a rank works out of its own rows of a micro-step, before ranks put it together.

/// What step_tensors() names of these rows of x, by their names, each [1, features]. Mean and variance by the claim of batch_norm.statistics, sums
/// by that of batch_norm.step_sums: squares are rounded once, and added.
ExpectedTensors own_statistics(const Declared& declared, StepStatistics by, const Expected& x);
/// sum (x - mean)² of these rows, [1, features], d = fl(x - mean), by the claim of batch_norm.step_sums.
Expected own_squares(const Declared& declared, const Expected& x, const Expected& mean);
/// "sum_dy" and "sum_dy_h" of these rows, [1, features], by the claim of batch_norm.parameter_gradients; the pass has
/// pooled.mean and pooled.rstd.
ExpectedTensors pooled_gradient_sums(const BoundPass& pass, const Expected& x, const Expected& dy);

}  // namespace tally::oracle
