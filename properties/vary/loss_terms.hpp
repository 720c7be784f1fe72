// A loss of several terms, each of which has weights of its own.
#pragma once

#include <optional>

#include "reports/record/vary_runs.hpp"

namespace tally {

/// The first term that differs from what it should be, where all terms are sums of the micro-batches' own.
std::optional<std::size_t> wrong_part(const VaryWeights& weights, double sharpness);

/// Those of a term alone.
VaryWeights weights_of(const VaryWeights& weights, std::size_t index);

/// Weights of another partition, or of the same term there. Nothing where these explain too little.
std::optional<VaryWeights> as_told(const VaryWeights& weights, std::optional<std::size_t> part, double sharpness);

/// "kl_div at train.py:31, one of the loss's 2 terms, is wrong and the other is right".
std::string whose_text(const VaryWeights& weights, std::size_t part, double sharpness);

}  // namespace tally
