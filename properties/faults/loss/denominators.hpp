// Other counts of a window's items than the right ones.
#pragma once

#include <functional>

#include "kernels/training_step/ranks/rank_totals.hpp"
#include "oracle/case/rows.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

/// The counts that a fault leaves of the right ones.
using Miscount = CountedItems (*)(const Run& run, const CountedItems& right);

/// Behind the shipped stage that begins a window, other counts: as far from the right ones as the magnitude says, in
/// whole items. Cases that count no items run the shipped stage alone.
void begin_miscounting(Run& run, Miscount wrong);

/// As a stage.
template <Miscount wrong>
void miscounted(Run& run) {
  begin_miscounting(run, wrong);
}

/// The counts of micro-batches that `of_row` gives for each row of the case, and their sum.
CountedItems counted_by(const Run& run, const std::function<std::int64_t(std::int64_t row)>& of_row);

}  // namespace tally
