// (layer_norm.1), (layer_norm.2) and (layer_norm.3) of n values, which may be a column as well, by the algorithm that a
// claim names (bounds: oracle/variants.md).
#pragma once

#include <vector>

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

struct Moments {
  Bounded mean, var, rstd;
};

/// The claim's algorithm: two_pass, one_pass or welford (oracle/tolerance/variance.hpp); "" and "any" take the largest
/// bound of them. Throws std::logic_error for another one.
Moments sample_moments(const Declared& declared, const KernelClaim& claim, const std::vector<Bounded>& x, Bounded eps);

/// Mean and variance alone, of a sample that is reduced already; throws likewise.
struct MeanAndVariance;
struct Sample;
MeanAndVariance sample_statistics(const Declared& declared, const KernelClaim& claim, const Sample& x);

/// fl(1 / fl(sqrt fl(var + eps))), or a function within 2 ulp of 1 / sqrt, which covers the quotient too (claim
/// `rsqrt`, and a claim without an algorithm). The subject's var is not negative, so its sum with eps is at least eps.
Bounded rstd_of(Bounded var, Bounded eps, bool by_function);

}  // namespace tally::oracle
