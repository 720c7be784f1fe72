#include "properties/faults/miscounted.hpp"

namespace tally {

void begin_miscounting(Run& run, Miscount wrong) {
  stage::begin_window(run);
  const auto right = counted_items(run.c, static_cast<std::size_t>(run.window));
  if (!right) return;
  CountedItems left = wrong(run, *right);
  for (std::size_t k = 0; k < left.of_micro_batch.size(); ++k)
    left.of_micro_batch[k] = blend_whole(right->of_micro_batch[k], left.of_micro_batch[k]);
  left.of_window = blend_whole(right->of_window, left.of_window);
  stage::leave_counts(run, left);
}

CountedItems counted_by(const Run& run, const std::function<std::int64_t(std::int64_t row)>& of_row) {
  CountedItems counted;
  for (int k = 0; k < micro_batches(run); ++k) {
    std::int64_t& items = counted.of_micro_batch.emplace_back(0);
    for (std::int64_t row = run.first_row(k); row < run.first_row(k) + run.rows(k); ++row) items += of_row(row);
    counted.of_window += items;
  }
  return counted;
}

}  // namespace tally
