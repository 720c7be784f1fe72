// Law: in whatever format gradients travel to their sum over ranks, every tensor stays inside the bound of that format,
// and what is left is the same on every rank.
#include "oracle/case/rank_keys.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"

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
