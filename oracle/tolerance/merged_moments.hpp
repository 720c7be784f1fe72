// Mean and variance of parts merged in order, each with its count, as PyTorch's batch_norm_gather_stats_with_counts does:
//   f = fl(1 / (n + c)),  d = fl(avg - mean)
//   M = fl(M + fl(fl(var c) + fl(fl(fl(fl(d d) n) c) f))),  avg = fl(fl(fl(n f) avg) + fl(fl(c f) mean)),  n = n + c
// from n = avg = M = 0 on, and var = fl(M / n) at the end. Derivation: oracle/variants.md, "Moments of ranks".
#pragma once

#include <vector>

#include "oracle/tolerance/variance.hpp"

namespace tally::oracle {

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
MeanAndVariance merged_moments(const std::vector<Moment>& parts, const MovedValues& moved = {});

}  // namespace tally::oracle
