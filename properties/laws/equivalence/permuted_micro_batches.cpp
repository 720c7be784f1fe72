// Law: the order of the micro-batches inside a window does not matter.   Σ_k s_k is a sum over a set.
// Drawn on exact data, where equal means equal bits; running statistics are exempt (later micro-batches weigh more).
#include "properties/laws/any_case.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::permuted_micro_batches_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const Case other = with_rotated_micro_batches(c);
  const CheckedRun rotated = run_and_check(other, subject);
  add(straight.outcome, rotated.outcome);
  require_equal_bits(straight.outcome, straight.trace, rotated.trace, {"unscale", "optimizer"},
                     "another order of the micro-batches changed the update");
  Outcome outcome = settled(std::move(straight.outcome));
  return other == c ? vacuous(std::move(outcome), "the micro-batches are identical: any order is the same") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "permuted_micro_batches",
    .family = "equivalence",
    .statement = "The order of the micro-batches inside a window does not change the update.",
    .shape = exact_arithmetic,
    .holds = holds,
    .control = "another row of x gives other bits",
    .differs = differs,
}};
const RegisterAnyCase registered_any_case("permuted_micro_batches");

}  // namespace
}  // namespace tally::permuted_micro_batches_law
