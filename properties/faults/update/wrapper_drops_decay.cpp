// The optimizer inside an accumulating wrapper never gets the parameters: nothing decays.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::wrapper_drops_decay_fault {
namespace {

void decay(Run& run) {
  const bool l2 = run.c.recipe.weight_decay.kind == "l2";
  for (Parameter& each : run.parameters) {
    if (!each.decays) continue;
    if (l2) run.tap("decay", "in.d." + each.name, each.unscaled);
    run.tap("decay", "in." + each.name, each.master);
    if (l2) run.tap("decay", "d." + each.name, each.unscaled);
    if (!l2) run.tap("decay", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "wrapper-drops-decay",
    .stage = "decay",
    .right = "g + λ p, or p (1 - lr λ)",
    .wrong = "g, p",
    .condition = "weight decay",
    .knob = "value",
    .source = "optax 145",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::wrapper_drops_decay_fault
