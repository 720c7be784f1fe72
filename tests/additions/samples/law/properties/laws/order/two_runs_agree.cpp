// Law: a case run twice leaves the same gradient.
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::two_runs_agree_law {
namespace {

Outcome holds(const Case& c, const RunOptions& options) {
  CheckedRun first = run_and_check(c, options);
  if (first.outcome.status == Status::not_run) return first.outcome;
  require_equal_bits(first.outcome, first.trace, run(c, options), {"unscale"}, "a second run leaves another gradient");
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& options) {
  return bits_differ(run(c, options), run(with_other_input(c), options), {"forward"});
}

const RegisterLaw registered{{
    .name = "two_runs_agree",
    .family = "schedule freedom",
    .statement = "A case run twice leaves the same gradient.",
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::two_runs_agree_law
