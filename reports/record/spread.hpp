// When a finding of the statistical lens counts (oracle/spread.md).
#pragma once

#include "reports/record/record.hpp"

namespace tally {

/// A campaign fails where a correct subject would show the like with a chance below family_alpha, and warns below
/// warning_alpha; each comparison gets an equal share of it among the most that a campaign may make (Bonferroni), so
/// that a case's verdict depends neither on the campaign around it nor on how it is sharded.
inline constexpr double family_alpha = 1e-9, warning_alpha = 1e-3;
inline constexpr double most_comparisons = 0x1p30;

/// What one comparison gets of `alpha`, as a decimal logarithm.
double log10_share(double alpha);

enum class SpreadVerdict { expected, warning, fail };
SpreadVerdict verdict_of(double log10_chance);

}  // namespace tally
