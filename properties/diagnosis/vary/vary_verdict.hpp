// The verdict on a loop that was run with other micro-batches, or what has to be run first; what a partition that fails
// tells. Defined in vary_verdict.cpp, failing_partition.cpp.
#pragma once

#include <optional>

#include "properties/diagnosis/vary/runs.hpp"
#include "reports/record/vary.hpp"

namespace tally {

// Uneven windows that a loop does not know of: it is told its largest micro-batch and their number alone, and what it makes of
// both is of a larger window, which it never has. That is no failure.

bool is_cut(const VaryRuns& runs, const Partition& sizes);

/// Where the loop takes other rows for its window because of that: the gap, which is not judged.
std::optional<VaryGap> cut_to_other_rows(const RunBook& book, const Partition& sizes);

/// Why this gap is none of the loop's; empty where it is. Nothing where weights are asked for.
std::optional<std::string> excuse_of_the_cut(const VaryReport& report, RunBook& book, const VaryGap& gap,
                                             const std::vector<std::string>& frozen);

// What a partition that fails tells: the coarsest that does, the layers that make it, the cause, and what to change.

/// Tells the last gap of the report. False where dropout made it, which is in `frozen` then: all is to be judged once
/// more.
bool take_failure(VaryReport& report, RunBook& book, std::vector<std::string>& frozen);

// The verdict on a loop that was run with other micro-batches, or what has to be run before there is one.

VaryReport vary_verdict(const VaryRuns& runs);

}  // namespace tally
