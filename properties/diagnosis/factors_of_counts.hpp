// Factors that a window's counts give: K, 1/K, n_k/N, N/(K n_k) and their like.
#pragma once

#include <string>
#include <vector>

namespace tally {

struct NamedFactor {
  double value;
  std::string name, with;  // "N/(K n_k)", " with n_k = 4, N = 14, K = 4"
};

/// The factors of a window of so many micro-batches and items, for the micro-batch with `own` of these items; 0: for
/// none of them.
std::vector<NamedFactor> factors_of_counts(double micro_batches, double own, double items);

}  // namespace tally
