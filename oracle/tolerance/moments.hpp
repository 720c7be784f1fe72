// Mean, variance and 1 / sqrt(var + eps) of n values, computed in two passes (bounds: oracle/tolerance.md).
#pragma once

#include <vector>

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

struct Moments {
  Bounded mean, var, rstd;
};

/// mean = fl(sum fl(1/n)), var = fl(sum fl(d d) fl(1/n)) with d = fl(x - mean), rstd = fl(1 / fl(sqrt fl(var + eps))).
/// Throws std::logic_error when the claim's algorithm has no bound.
Moments two_pass_moments(const Declared& subject, const KernelClaim& claim, const std::vector<Bounded>& x, Bounded eps);

Bounded rstd_of(Bounded var, Bounded eps);

}  // namespace tally::oracle
