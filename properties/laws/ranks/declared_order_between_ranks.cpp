// Law: a sum over ranks in a declared order has the bits of that order, and all ranks hold the same.   Every algorithm
// adds each element in an order that follows from its place alone; in fp32 other orders leave other bits.
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/rank_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::declared_order_between_ranks_law {
namespace {

void shape(Plan& plan) {
  dealt_to_ranks(plan);
  design_ranks(plan);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  for (const Case& each : by_every_algorithm(c)) add(first.outcome, run_and_check(each, subject).outcome);
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "declared_order_between_ranks",
    .family = "ranks",
    .statement = "A sum over ranks in a declared order has that order's bits, the same on every rank.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.75,  // draws every design
}};
const RegisterDesigned registered_designed("declared_order_between_ranks");

}  // namespace
}  // namespace tally::declared_order_between_ranks_law
