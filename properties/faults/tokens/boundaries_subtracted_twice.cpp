// One label a sequence is taken off the labels behind the shift again, though the shift has left it out.
#include "oracle/case/sequences.hpp"
#include "properties/faults/miscounted.hpp"

namespace tally::boundaries_subtracted_twice_fault {
namespace {

CountedItems without_boundaries(const Run& run, const CountedItems& right) {
  if (!shifts_labels(run.c.model.loss)) return right;
  const std::vector<std::int64_t> places = places_in_sequences(run.c);
  CountedItems left =
      counted_by(run, [&](std::int64_t row) { return places[static_cast<std::size_t>(row)] == 0 ? -1 : 0; });
  for (std::size_t k = 0; k < left.of_micro_batch.size(); ++k) left.of_micro_batch[k] += right.of_micro_batch[k];
  left.of_window += right.of_window;
  return left;
}

const RegisterFault registered{{
    .name = "boundaries-subtracted-twice",
    .stage = "count",
    .right = "n_k = labels behind the shift",
    .wrong = "n_k = labels behind the shift - sequences",
    .condition = "labels are shifted",
    .knob = "rows",
    .source = "unslothai/unsloth-zoo 1066",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::begin_window, miscounted<without_boundaries>>,
}};

}  // namespace
}  // namespace tally::boundaries_subtracted_twice_fault
