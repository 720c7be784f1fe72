// Laws of the sum over ranks: any algorithm, order, wire and arrival.
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: where every sum is exact in any order, each algorithm, layout of buckets and arrival leaves the bits that one
// rank with all micro-batches leaves.   Partial sums of multiples of q stay exact while they have no more than p bits.
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

// Law: a sum over ranks in a declared order has the bits of that order, and all ranks hold the same.   Every algorithm
// adds each element in an order that follows from its place alone; in fp32 other orders leave other bits.
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
    .designed = true,
}};

}  // namespace
}  // namespace tally::declared_order_between_ranks_law

// Law: in whatever format gradients travel to their sum over ranks, every tensor stays inside the bound of that format,
// and what is left is the same on every rank.
namespace tally::every_wire_keeps_its_bound_law {
namespace {

/// A third adds 16 bits in fp32, once a window and over all ranks, three at least.
void shape(Plan& plan) {
  dealt_to_ranks(plan);
  if (plan.seed % 3 != 0) return;
  plan.ranks = plan.ranks > 2 ? plan.ranks : 3;
  communicate(plan, "window");
  share(plan, "none");
  set_rank_option(plan.execution, "reduce.algorithm", std::string(plan.seed % 2 == 0 ? "in_order" : "all_to_all"));
  set_rank_option(plan.execution, "reduce.wire", std::string(plan.seed / 6 % 2 == 0 ? "bf16" : "fp16"));
  set_rank_option(plan.execution, "reduce.accumulate", std::string("fp32"));
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  Outcome all;
  for (const Case& each : by_every_wire(c)) add(all, run_and_check(each, subject).outcome);
  return settled(std::move(all));
}

bool differs(const Case& c, const RunOptions& subject) {
  const std::vector<Case> by = by_every_wire(c);
  return bits_differ(run(by.front(), subject), run(by.back(), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "every_wire_keeps_its_bound",
    .family = "ranks",
    .statement = "In whatever format gradients travel to their sum over ranks, every tensor stays inside its bound.",
    .shape = shape,
    .holds = holds,
    .control = "bf16 leaves other sums than fp32",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::every_wire_keeps_its_bound_law

// Law: in whichever order ranks go on, every bit is the same, and none waits for ever.   An algorithm of a declared
// order adds in that order, whoever comes first.
namespace tally::arrival_changes_nothing_law {
namespace {

const std::vector<std::string> everything{"count",      "cast",      "forward", "running_stats", "loss", "backward",
                                          "accumulate", "reduce",    "agree",   "unscale",       "norm", "clip",
                                          "decay",      "optimizer", "scaler",  "schedule"};

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  for (const std::int64_t arrival : {0, 1, 2, 3})
    require_equal_bits(first.outcome, first.trace, run(with_rank_option(c, "arrival", arrival), subject), everything,
                       "ranks that went on in another order left other bits");
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "arrival_changes_nothing",
    .family = "ranks",
    .statement = "In whichever order ranks go on, every bit is the same, and none waits for ever.",
    .shape = dealt_to_ranks_by_any_normalisation,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::arrival_changes_nothing_law
