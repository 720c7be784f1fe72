// Law: whatever settings stand together in a case, every stage keeps its bound: kinds of layers, losses and recipe
// sections, values of their options, and how ranks and stages train it, in usual models and unusual ones. Each of its
// cases begins with another setting, and takes as many drawn ones as the rules allow.
#include "properties/laws/any_case.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/settings/together.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::settings_stand_together_law {
namespace {

void shape(Plan& plan) { put_together(plan, plan.seed); }

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterAnyCase any_case("settings_stand_together");

const RegisterLaw registered{{
    .name = "settings_stand_together",
    .family = "kernels",
    .statement = "Whatever settings stand together in a case, every stage keeps its bound.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .weight = 3,
}};

}  // namespace
}  // namespace tally::settings_stand_together_law
