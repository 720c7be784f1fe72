// Law: weight decay leaves out what the recipe excludes: biases, the parameters of norms and tables that are looked up,
// each apart from the others.
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::excluded_parameters_do_not_decay_law {
namespace {

void shape(Plan& plan) {
  const bool tokens = plan.seed % 5 == 0;
  if (tokens) read_tokens(plan);
  if (plan.seed % 2 == 0 && !tokens) with_batch_norm(plan, "micro_batch");
  static const std::vector<std::vector<std::string>> excluded = {{"bias"}, {"norm"}, {"bias", "norm"}};
  plan.recipe.weight_decay =
      choice("weight_decay", plan.seed / 2 % 2 == 0 ? "l2" : "decoupled",
             {{"lambda", Decimal{"0.05"}}, {"exclude", excluded[plan.seed / 4 % excluded.size()]}});
  if (tokens) plan.recipe.weight_decay.options["exclude"] = std::vector<std::string>{"embedding"};
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case all = c;
  all.recipe.weight_decay.options["exclude"] = std::vector<std::string>{};
  return bits_differ(run(c, subject), run(all, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "excluded_parameters_do_not_decay",
    .family = "decay, optimizer, schedule",
    .statement = "Weight decay leaves out the biases, norm parameters and tables that the recipe excludes.",
    .shape = shape,
    .holds = holds,
    .control = "without the exclusion the update is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::excluded_parameters_do_not_decay_law
