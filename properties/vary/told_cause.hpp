// What makes a partition differ in meaning: other steps, or what these are handed.
#pragma once

#include <optional>

#include "properties/vary/run_book.hpp"
#include "properties/vary/weight_cause.hpp"

namespace tally {

/// Rows that an epoch leaves over for this run's micro-batches, and none for the whole batch.
std::optional<ToldCause> told_by_left_over(const VaryRun& whole, const VaryRun& parted);

/// A step before a window's last micro-batch, or rows that it trains on again.
std::optional<ToldCause> told_by_dealing(const VaryRun& parted);

/// The cause of a step that is handed what the one before it left, whatever the micro-batches are.
std::optional<ToldCause> told_by_uncleared(const VaryRun& run, int window);

/// Nothing where weights are asked for; those that tell the cause are the report's.
std::optional<ToldCause> told_cause(VaryReport& report, RunBook& book, const VaryGap& gap,
                                    const std::vector<std::string>& frozen);

/// Makes the report that of a failure by this cause.
void tell(VaryReport& report, const ToldCause& told);

}  // namespace tally
