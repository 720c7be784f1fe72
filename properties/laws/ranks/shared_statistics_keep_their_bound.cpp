// Law: what ranks make of a micro-step's statistics keeps its bound and its bits, whatever they hand over, at every size
// at which its kernels go another way.   Designed sizes, each way of sharing at each of them.
#include "oracle/case/micro_steps.hpp"
#include "properties/generators/micro_step_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::shared_statistics_keep_their_bound_law {
namespace {

void shape(Plan& plan) {
  dealt_to_ranks(plan);
  design_micro_steps(plan);
  plan.constant = (plan.seed / micro_step_designs + plan.seed) % 2 == 1;  // sums of squares leave a variance below zero
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!pools_steps(c)) return not_for("ranks that share the statistics of their micro-steps");
  Outcome outcome = run_and_check(c, subject).outcome;
  return outcome.status == Status::not_run ? outcome : settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"sync_statistics"});
}

const RegisterLaw registered{{
    .name = "shared_statistics_keep_their_bound",
    .family = "ranks",
    .statement = "Statistics that ranks share keep their bound and their bits, at every size that launches differ at.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other statistics",
    .differs = differs,
    .weight = 0.75,  // draws every design
}};
const RegisterDesigned registered_designed("shared_statistics_keep_their_bound");

}  // namespace
}  // namespace tally::shared_statistics_keep_their_bound_law
