// Law: networks of plain sizes, initial values, inputs and recipes pass, and a verdict is reached: none of them is
// refused as vacuous while it has a gradient. A verdict that is wrong on the first ordinary network is the last one
// that a user reads.
#include "properties/generators/ordinary/ordinary_plan.hpp"
#include "properties/laws/any_case.hpp"
#include "properties/laws/refusal.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::ordinary_networks_are_judged_law {
namespace {

/// Small ones, one in eight medium, and one in 24 with a weight of 10^5 elements or more.
void shape(Plan& plan) {
  const OrdinarySize size = plan.seed % 24 == 5  ? OrdinarySize::true_size
                            : plan.seed % 8 == 3 ? OrdinarySize::medium
                                                 : OrdinarySize::small;
  plan = ordinary_plan(plan.precision.storage, size, plan.seed);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  Outcome outcome = std::move(judged.outcome);
  const std::string refusal = refusal_of(outcome, judged.trace);
  if (refusal.empty()) return outcome;
  require(outcome, false, "verdict", "loss", "the case has gradients and is refused: " + refusal);
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.normalisation = Normalisation::sum;
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterAnyCase any_case("ordinary_networks_are_judged");

const RegisterLaw registered{{
    .name = "ordinary_networks_are_judged",
    .family = "ordinary",
    .statement = "Networks of plain sizes, initial values, inputs and recipes pass, and none is refused.",
    .shape = shape,
    .holds = holds,
    .control = "gradients that are summed, not averaged, are others",
    .differs = differs,
    .weight = 0.35,
}};

}  // namespace
}  // namespace tally::ordinary_networks_are_judged_law
