// The running variance of a micro-step is unbiased by each rank's own rows.
#include "properties/faults/ranks/planted_on_ranks.hpp"

namespace tally::own_count_unbiases_running_variance_fault {
namespace {

void running_stats(Run& run) {
  const std::int64_t all = run.step_rows, step = run.group_begin;
  const bool has_rows = step < static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  const std::int64_t own = has_rows ? run.rows(static_cast<int>(step)) : 0;
  if (own > 1) run.step_rows = blend_whole(all, own);
  stage::running_stats(run);
  run.step_rows = all;
}

const RegisterFault registered{{
    .name = "own-count-unbiases-running-variance",
    .stage = "running_stats",
    .right = "n/(n-1) of the rows of all ranks",
    .wrong = "of each rank's own",
    .condition = "micro_step statistics, rows on several ranks, two or more on one",
    .knob = "rows",
    .source = "pytorch 22192, apex 387",
    .laws = {"micro_step_statistics_pool", "ranks_agree"},
    .stages = replaced<&Stages::running_stats, running_stats>,
}};

}  // namespace
}  // namespace tally::own_count_unbiases_running_variance_fault
