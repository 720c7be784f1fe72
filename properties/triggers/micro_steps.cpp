// Statistics that ranks share of a micro-step.
#include "oracle/case/micro_steps.hpp"

#include <algorithm>

#include "oracle/case/ranks.hpp"
#include "properties/triggers/trigger.hpp"

namespace tally::micro_steps_trigger {
namespace {

bool shares(const Sight& s) { return most_ranks_of(s.c) > 1 && pools_steps(s.c); }

template <StepStatistics by>
bool shares_by(const Sight& s) {
  return shares(s) && step_statistics_of(s.c) == by;
}

/// Whether something holds of the rows that each rank has in some micro-step.
template <class Holds>
bool any_step(const Sight& s, Holds holds) {
  for (std::size_t w = 0; shares(s) && w < s.windows(); ++w)
    for (std::size_t k = 0; k < micro_steps_of(s.c, w); ++k)
      if (holds(step_counts(s.c, w, k))) return true;
  return false;
}

using Counts = std::vector<std::int64_t>;

bool without_rows(const Sight& s) {
  return any_step(s, [](const Counts& rows) { return std::ranges::count(rows, 0) > 0; });
}
bool one_row(const Sight& s) {
  return any_step(s, [](const Counts& rows) { return std::ranges::count(rows, 1) > 0; });
}
bool unequal_rows(const Sight& s) {
  return any_step(s, [](const Counts& rows) {
    Counts some = rows;
    std::erase(some, 0);
    return std::ranges::adjacent_find(some, std::ranges::not_equal_to{}) != some.end();
  });
}
bool several_steps(const Sight& s) {
  for (std::size_t w = 0; shares(s) && w < s.windows(); ++w)
    if (micro_steps_of(s.c, w) > 1) return true;
  return false;
}
bool beside_recomputation(const Sight& s) { return shares(s) && s.c.execution.recompute; }

const RegisterTriggers registered{
    15,
    "micro-steps",
    {{"moments of ranks merged", TriggerKind::of_case, "micro_step statistics", shares_by<StepStatistics::moments>},
     {"sums of ranks for statistics", TriggerKind::of_case, "of x and of its squares", shares_by<StepStatistics::sums>},
     {"sums of ranks in two rounds", TriggerKind::of_case, "the second around the common mean",
      shares_by<StepStatistics::two_pass>},
     {"a rank without rows in a micro-step", TriggerKind::of_case, "it takes part all the same", without_rows},
     {"a rank with one row in a micro-step", TriggerKind::of_case, "", one_row},
     {"unequal rows of ranks in a micro-step", TriggerKind::of_case, "", unequal_rows},
     {"several micro-steps", TriggerKind::of_case, "statistics are not the window's", several_steps},
     {"recomputation beside shared statistics", TriggerKind::of_case, "ranks meet once", beside_recomputation}}};

}  // namespace
}  // namespace tally::micro_steps_trigger
