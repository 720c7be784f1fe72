// An l2 penalty where the recipe asks for decoupled decay.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::adamw_vs_adam_decay_fault {
namespace {

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  if (choice.kind != "decoupled") return stage::decay(run);
  const auto lambda = static_cast<float>(choice.number("lambda").to_double());
  for (Parameter& each : run.parameters) {
    if (!each.decays) continue;
    run.tap("decay", "in." + each.name, each.master);
    run.kernels.of<DecayArguments>("decay.l2")(
        run.stream, {each.unscaled.as<float>(), each.master.data(), each.elements, lambda, 1.0f, each.master.dtype});
    run.tap("decay", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "adamw-vs-adam-decay",
    .stage = "decay",
    .right = "p (1 - lr λ)",
    .wrong = "g + λ p",
    .condition = "weight decay of kind decoupled",
    .knob = "value",
    .source = "FlagGems PR 4989: the reverse of its fault",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::adamw_vs_adam_decay_fault
