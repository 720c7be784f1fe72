// Law: where every sum is exact in any order, ranks in groups that each keep all pieces leave the bits that one rank with
// all micro-batches leaves, whatever the groups' size.   A sum of the groups' sums is the sum over all ranks, and a mean of
// means of equal groups their mean.
#include <algorithm>

#include "oracle/case/generations.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::replicas_change_nothing_law {
namespace {

void shape(Plan& plan) {
  constexpr int counts[] = {4, 8, 6};
  exact_arithmetic(plan);
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  plan.ranks = counts[plan.seed / 64 % 3];
  keep_ranks(plan);
  communicate(plan, "window");
  share(plan, plan.seed / 128 % 2 == 0 ? "gradients" : "parameters");
  set_rank_option(plan.execution, "replicas", std::int64_t{2});
  divide_exactly(plan);
  communicate(plan, "window");
}

/// The same ranks in every number of groups that divides those of each window, two at least.
std::vector<Case> in_every_group(const Case& c) {
  std::vector<Case> all;
  const auto divides = [&](std::int64_t replicas) {
    return std::ranges::all_of(generations_of(c), [&](const Generation& each) {
      return static_cast<std::int64_t>(each.ranks) % replicas == 0;
    });
  };
  for (std::int64_t replicas = 2; replicas <= static_cast<std::int64_t>(most_ranks_of(c)); ++replicas)
    if (divides(replicas)) all.push_back(with_rank_option(c, "replicas", replicas));
  return all;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c) || !shards_gradients(c)) return not_for("ranks that share the gradients");
  Outcome all;
  const Trace alone = run(on_one_rank(c), subject);
  for (const Case& each : in_every_group(c)) {
    CheckedRun groups = run_and_check(each, subject);
    if (groups.outcome.status == Status::not_run) return groups.outcome;
    require_equal_bits(groups.outcome, alone, of_exact_sums(of_first_rank(each, groups.trace)),
                       {"unscale", "optimizer"},
                       std::to_string(rank_number(each, "replicas")) +
                           " groups left other bits than one rank alone, though every sum is exact");
    add(all, std::move(groups.outcome));
  }
  return settled(std::move(all));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "replicas_change_nothing",
    .family = "ranks",
    .statement = "Where every sum is exact, groups that each keep all pieces leave one rank's bits.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::replicas_change_nothing_law
