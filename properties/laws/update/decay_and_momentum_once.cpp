// Law: weight decay, momentum and bias correction act once a window, however many micro-batches it has.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::decay_and_momentum_once_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 2);
  const std::string decay = plan.seed % 2 == 0 ? "l2" : "decoupled";
  plan.recipe.weight_decay = choice("weight_decay", decay, {{"lambda", Decimal{"0.05"}}});
  if (plan.recipe.learning_rate.kind == "warmup_cosine") {  // its first rates may be zero: such a decay does nothing
    plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  }
  if (plan.recipe.optimizer.kind == "sgd") {
    const Decimal momentum{plan.seed % 3 == 0 ? "0" : "0.9"};  // without it, decay is all that may act twice
    plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", momentum}});
  }
  plan.recipe.clip = choice("clip", "none");
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case without = c;
  without.recipe.weight_decay = choice("weight_decay", "none");
  return bits_differ(run(c, subject), run(without, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "decay_and_momentum_once",
    .family = "decay, optimizer, schedule",
    .statement = "Weight decay, momentum and bias correction act once a window.",
    .shape = shape,
    .holds = holds,
    .control = "no decay gives another update",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::decay_and_momentum_once_law
