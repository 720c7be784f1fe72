// Law: a norm over a single parameter, and over a number of them that fills the kernel's batches exactly, is the norm
// of all their elements.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::one_parameter_clips_law {
namespace {

/// Parameters the norm takes in one launch on the host (a GPU's takes more), and a weight of more than one of its
/// chunks.
constexpr std::size_t tensors_a_launch = 24;
constexpr std::int64_t wide = 1100;

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  at_least_micro_batches(plan, 2);
  plan.hidden.clear();
  plan.output_bias = false;
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  if (plan.seed % 3 == 1) {  // one more than fills a launch, none with a bias
    for (std::size_t i = 0; i < tensors_a_launch; ++i) {
      plan.hidden.push_back(layer("linear", "fc" + std::to_string(i), {{"out", std::int64_t{2}}, {"bias", false}}));
    }
    plan.input = 2;
  }
  if (plan.seed % 3 == 2) {
    plan.input = wide;
    plan.outputs = 4;
  }
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.0009765625"}}, {"norm", std::string(norms[plan.seed / 3 % 3])}});
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.recipe.clip.options["norm"] = std::string(c.recipe.clip.text("norm") == "2" ? "1" : "2");
  return bits_differ(run(c, subject), run(other, subject), {"clip"});
}

const RegisterLaw registered{{
    .name = "one_parameter_clips",
    .family = "clipping",
    .statement = "The norm of one parameter, and of one more than a launch takes, is the norm of all elements.",
    .shape = shape,
    .holds = holds,
    .control = "another norm gives another coefficient",
    .differs = differs,
    .weight = 0.3,
}};

}  // namespace
}  // namespace tally::one_parameter_clips_law
