// Law: whatever order the matrix products add in, drawn anew for every call, every tensor stays inside its bound.
#include "properties/laws/run_and_check.hpp"

namespace tally::any_order_of_additions_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RunOptions other = subject;
    other.order_seed = seed;
    add(outcome, run_and_check(c, other).outcome);
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  if (subject.executor == ExecutorKind::cuda) return true;  // a library's order is its own, whatever is drawn
  RunOptions other = subject;
  other.order_seed = 1;
  return bits_differ(run(c, subject), run(c, other), {"forward", "backward"});
}

const RegisterLaw registered{{
    .name = "any_order_of_additions",
    .family = "kernels",
    .statement = "Whatever order the matrix products add in, every tensor stays inside its bound.",
    .holds = holds,
    .control = "another order of additions leaves other bits in some case",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::any_order_of_additions_law
