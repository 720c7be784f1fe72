// Uneven windows that a loop does not know of: it is told its largest micro-batch and their number alone, and what it makes of
// both is of a larger window, which it never has. That is no failure.
#pragma once

#include <optional>

#include "properties/vary/run_book.hpp"

namespace tally {

bool is_cut(const VaryRuns& runs, const Partition& sizes);

/// Where the loop takes other rows for its window because of that: the gap, which is not judged.
std::optional<VaryGap> cut_to_other_rows(const RunBook& book, const Partition& sizes);

/// Why this gap is none of the loop's; empty where it is. Nothing where weights are asked for.
std::optional<std::string> excuse_of_the_cut(const VaryReport& report, RunBook& book, const VaryGap& gap,
                                             const std::vector<std::string>& frozen);

}  // namespace tally
