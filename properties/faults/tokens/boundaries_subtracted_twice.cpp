// Of the labels behind the shift, one a sequence is taken off again, though the shift has left it out.
#include "oracle/case/sequences.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (!shifts_labels(run.c.model.loss)) return;
  const std::vector<std::int64_t> places = places_in_sequences(run.c);
  double counted = run.window_items;
  for (int k = 0; k < micro_batches(run); ++k)
    for (std::int64_t row = run.first_row(k); row < run.first_row(k) + run.rows(k); ++row)
      counted -= places[static_cast<std::size_t>(row)] == 0;
  run.factor = counted <= 0 ? 0.0f : run.window_scale / static_cast<float>(counted);
}

const RegisterFault registered{{
    .name = "boundaries-subtracted-twice",
    .stage = "loss",
    .right = "N = labels behind the shift",
    .wrong = "N = labels behind the shift - sequences",
    .condition = "labels are shifted",
    .knob = "value",
    .source = "unslothai/unsloth-zoo 1066",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally
