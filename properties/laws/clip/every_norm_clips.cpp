// Law: the clip by the 1-norm, the 2-norm and the inf-norm each follows its own definition, over all parameters once.
// The limit lies below every norm that is drawn, so that the coefficient acts; a gradient of zeros leaves nothing to
// clip.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::every_norm_clips_law {
namespace {

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  at_least_micro_batches(plan, 2);
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient between clip and step
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.0009765625"}}, {"norm", std::string(norms[plan.seed % 3])}});
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.recipe.clip.options["norm"] = std::string(c.recipe.clip.text("norm") == "2" ? "1" : "2");
  return bits_differ(run(c, subject), run(other, subject), {"clip"});
}

const RegisterLaw registered{{
    .name = "every_norm_clips",
    .family = "clipping",
    .statement = "Clipping by each norm follows its definition, every parameter counted once.",
    .shape = shape,
    .holds = holds,
    .control = "another norm gives another coefficient",
    .differs = differs,
    .weight = 0.75,
}};

}  // namespace
}  // namespace tally::every_norm_clips_law
