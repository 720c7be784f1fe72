// Law: in whatever format gradients travel to their sum over ranks, every tensor stays inside the bound of that format,
// and what is left is the same on every rank.
#include "oracle/case/rank_keys.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally {
namespace {

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
    .shape = dealt_to_ranks,
    .holds = holds,
    .control = "bf16 leaves other sums than fp32",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally
