// Whether the loop on the whole batch can be held against anything, and whether the partitions have its rows.
#pragma once

#include "properties/vary/partitions.hpp"
#include "properties/vary/run_book.hpp"

namespace tally {

/// False where runs are asked for, or the report says why it cannot.
bool whole_batch_stands(VaryReport& report, RunBook& book);

/// The same run a second time, of a whole batch that stands: asked before anything is held against a loop. Where all is
/// rounding, every partition has repeated it. False as above.
bool whole_batch_repeats(VaryReport& report, RunBook& book);

/// Whether the runs of this partition are there and hold other rows than the whole batch. The report then says so, or
/// runs are asked for.
bool hold_other_rows(VaryReport& report, RunBook& book, const Partition& sizes);

}  // namespace tally
