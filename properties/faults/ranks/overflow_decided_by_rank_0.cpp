// What the first rank found is the finding of all.
#include "kernels/training_step/rank_totals.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::overflow_decided_by_rank_0_fault {
namespace {

void agree(Run& run) {
  if (magnitude() == 0 || ranks(run) < 2) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.found = sum_over_ranks(run, "agree", std::int64_t{rank(run) == 0 && run.found}) > 0;
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "overflow-decided-by-rank-0",
    .stage = "agree",
    .right = "found = one of the ranks found something",
    .wrong = "found = the first rank did",
    .condition = "a shared optimizer, an overflow outside of the first rank's pieces",
    .knob = "none",
    .source = "WeatherGenerator 2718",
    .laws = {"overflow_on_one_rank_skips_all"},
    .stages = replaced<&Stages::agree, agree>,
}};

}  // namespace
}  // namespace tally::overflow_decided_by_rank_0_fault
