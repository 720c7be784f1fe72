// What is left over once every rank has as many micro-batches is dealt to no one: the last one of a rank that has more
// than another.
#include "oracle/case/ranks.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::tail_rows_never_dealt_fault {
namespace {

std::size_t fewest(const Run& run) {
  const Case& whole = whole_of(run.c);
  const auto window = static_cast<std::size_t>(run.window);
  std::size_t least = whole.windows[window].size();
  for (std::size_t rank = 0; rank < ranks_of(whole); ++rank)
    least = std::min(least, micro_batches_of(whole, window, rank));
  return least;
}

void factor(Run& run) {
  stage::fix_factor(run);
  if (static_cast<std::size_t>(run.micro_batch) >= fewest(run)) run.factor = 0;
}

const RegisterFault registered{{
    .name = "tail-rows-never-dealt",
    .stage = "loss",
    .right = "every micro-batch counts",
    .wrong = "a rank's micro-batches beyond the fewest of any rank count for nothing",
    .condition = "K_r unequal",
    .knob = "value",
    .source = "ms-swift PR 9907",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::tail_rows_never_dealt_fault
