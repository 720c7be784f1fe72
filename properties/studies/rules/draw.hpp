// Draws the cases of the study: accumulation that equals the full batch, in the shape of a fault's own laws.
#pragma once

#include <cstdint>
#include <optional>

#include "properties/studies/rules/trial.hpp"

namespace tally {

struct DrawnCase {
  Case c;
  const Law* law = nullptr;  // whose shape the case has
};

/// The case number `index` on which the setting's fault shows, in the shape of the first of its laws that has one;
/// nullopt when it shows on none of a fixed number of draws. Without a fault the first case drawn, in the shape of
/// partition_equals_full_batch. Every case divides by the window's items, has no micro-batch statistics and cuts every
/// window, so that the full batch is its equal.
std::optional<DrawnCase> drawn_case(const TrialSetting& setting, int index, std::uint64_t seed,
                                    const RunOptions& subject);

}  // namespace tally
