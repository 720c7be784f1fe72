// Factors that tell a story: 1/K, n_k/N, the loss scale, a half.
#pragma once

#include <string>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

/// "(K-1)/K with K = 6" for a factor that is one of those of this window (and micro-batch, -1 for none), to within the
/// rounding of `dtype`; empty for any other, for 1, and for what is not finite.
std::string telling_factor(const Case& c, int window, int micro_batch, Dtype dtype, double factor);

}  // namespace tally
