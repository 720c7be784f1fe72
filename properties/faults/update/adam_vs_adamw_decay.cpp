// Decoupled decay where the recipe asks for an l2 penalty.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::adam_vs_adamw_decay_fault {
namespace {

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  if (choice.kind != "l2") return stage::decay(run);
  const double lambda = choice.number("lambda").to_double();
  for (Parameter& parameter : run.parameters) {
    if (!parameter.decays) continue;
    run.tap("decay", "in.d." + parameter.name, parameter.unscaled);
    run.tap("decay", "in." + parameter.name, parameter.master);
    run.kernels.of<DecayArguments>("decay.decoupled")(
        run.stream,
        {parameter.unscaled.as<float>(), parameter.master.data(), parameter.elements, static_cast<float>(lambda),
         static_cast<float>(1 - run.learning_rate * lambda), parameter.master.dtype});
    run.tap("decay", "d." + parameter.name, parameter.unscaled);
  }
}

const RegisterFault registered{{
    .name = "adam-vs-adamw-decay",
    .stage = "decay",
    .right = "g + λ p",
    .wrong = "p (1 - lr λ)",
    .condition = "weight decay of kind l2",
    .knob = "value",
    .source = "FlagGems 4988",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::adam_vs_adamw_decay_fault
