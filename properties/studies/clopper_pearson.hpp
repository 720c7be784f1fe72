// Exact confidence limits of a probability that was seen `events` times in `trials` independent draws.
#pragma once

#include <cstdint>

namespace tally {

/// One-sided Clopper-Pearson limits: the probability lies below the upper one (above the lower one) with this
/// confidence, whatever it is. No event in n trials: 1 - (1 - confidence)^(1/n), about 3/n at 95 %.
/// Without trials nothing is known: 1 and 0. Throws std::invalid_argument for more events than trials.
double clopper_pearson_upper(std::uint64_t events, std::uint64_t trials, double confidence = 0.95);
double clopper_pearson_lower(std::uint64_t events, std::uint64_t trials, double confidence = 0.95);

}  // namespace tally
