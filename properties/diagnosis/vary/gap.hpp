// Whether a partition differs from the whole batch in meaning or by rounding, without a tolerance.
//
// The reference is the loop itself, the whole batch at once in the high precision. A partition is run in both precisions;
// d_high and d_low are how far a tensor ends from the reference's. Rounding shrinks with the format, d_high / d_low is near
// u_high / u_low, the ratio of their units (2^-29 of float64 and float32). A gap in meaning does not shrink, its ratio is
// near 1. The rule takes the geometric middle, so that either may be off by as much. What the low precision would show,
// were the loop right to the last bit, is measured: a second whole run whose parameters and rows are moved by half ulps of
// the low precision, at random. Where d_low is smaller than that, or than the unit itself, it counts as that.
//
// The low precision can only add to what d_high may be. It is not asked where less explains d_high: those half ulps, and
// d_low of partitions that passed before, which is what rounding was seen to do to the same tensor.
//
// Two things look like a gap in meaning and are decisions that rounding turned. One run meets a branch (a ReLU, a top-k, a
// skip) just where it turns: with all moved by those half ulps the gap is gone. Or the whole batch itself turns with its
// last bits (Adam divides a gradient that is nothing but rounding by its own size): moved by half ulps of the *high*
// precision it ends, beside the gap, farther off than rounding can.
//
// With one precision alone, the same whole run moved is the measure: the partition orders rows x windows additions
// otherwise, each of which rounds by no more than half an ulp.
#pragma once

#include <optional>

#include "properties/diagnosis/vary/runs.hpp"

namespace tally {

/// The share of the low precision's distance up to which a distance in the high one is rounding.
double boundary_of(const VaryRuns& runs);
/// How near numbers are that differ by nothing but what the high precision rounds: half of its digits.
double sharpness_of(const VaryRuns& runs);

/// The whole window, as it is or moved.
HowRun whole_run(const VaryRuns& runs, const std::vector<std::string>& frozen, int moved = 0);
HowRun high_run(const VaryRuns& runs, const Partition& sizes, const std::vector<std::string>& frozen, int moved = 0);

/// "ValueError at train.py:12 (...)".
std::string error_text(const VaryError& error);
/// The first tensor with elements that are not finite; empty where all are.
std::string not_finite_in(const VaryRun& run);

/// Nothing where runs are missing, which are asked for. `before` are gaps of other partitions, alike frozen; `in_low`: the
/// low precision is run in any case.
std::optional<VaryGap> gap_of(RunBook& book, const Partition& sizes, const std::vector<std::string>& frozen,
                              const std::vector<VaryGap>& before = {}, bool in_low = false);

}  // namespace tally
