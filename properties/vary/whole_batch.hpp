// Whether the loop on the whole batch can be held against anything, and whether the partitions have its rows.
#pragma once

#include "properties/vary/partitions.hpp"
#include "properties/vary/run_book.hpp"

namespace tally {

/// False where runs are asked for, or the report says why it cannot.
bool whole_batch_stands(VaryReport& report, RunBook& book);

/// Whether the runs of this partition are there and hold other rows than the whole batch, which the report then says.
bool hold_other_rows(VaryReport& report, const RunBook& book, const Partition& sizes);

}  // namespace tally
