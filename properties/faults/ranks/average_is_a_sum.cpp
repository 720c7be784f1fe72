// An average over ranks only adds: nobody divides by their number, though the loss counts on it.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::average_is_a_sum_fault {
namespace {

void reduce(Run& run) {
  stage::reduce(run);
  if (!rank_division(run.c, static_cast<std::size_t>(ranks(run))).around_the_sum) return;
  for (Parameter& parameter : keepers_of_sums(run)) {
    DeviceTensor& sum = parameter.reduced ? parameter.reduced : parameter.buffer;
    if (!sum) continue;  // a rank without a piece
    change(run, sum, [&](std::size_t, double value) { return blend(value, value * ranks(run)); });
    run.tap("reduce", "reduced." + parameter.name, sum);
  }
}

const RegisterFault registered{{
    .name = "average-is-a-sum",
    .stage = "reduce",
    .right = "the mean over ranks",
    .wrong = "their sum",
    .condition = "several ranks, divided around the sum",
    .knob = "value",
    .source = "PyTorch issue 162338",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum", "sync_each_or_last", "settings_stand_together"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::average_is_a_sum_fault
