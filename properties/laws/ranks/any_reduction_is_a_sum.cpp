// Law: where every sum is exact in any order, each algorithm, layout of buckets and arrival leaves the bits that one
// rank with all micro-batches leaves.   Partial sums of multiples of q stay exact while they have no more than p bits.
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::any_reduction_is_a_sum_law {
namespace {

void shape(Plan& plan) {
  exact_arithmetic(plan);
  dealt_to_ranks(plan);
  divide_exactly(plan);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  const Trace alone = run(on_one_rank(c), subject);
  const std::vector<std::string> stages{"unscale", "optimizer"};
  require_equal_bits(first.outcome, alone, of_exact_sums(of_first_rank(c, first.trace)), stages,
                     "ranks left other bits than one rank alone, though every sum is exact");
  for (const Case& other : by_every_algorithm(c))
    require_equal_bits(first.outcome, alone, of_exact_sums(of_first_rank(other, run(other, subject))), stages,
                       rank_word(other, "reduce.algorithm") + " left other bits, though every sum is exact");
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "any_reduction_is_a_sum",
    .family = "ranks",
    .statement = "Where every sum is exact, each algorithm, layout and arrival leaves one rank's bits.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::any_reduction_is_a_sum_law
