// The decay is multiplied by the number of micro-batches, so that it follows how the batch is cut.
#include "properties/faults/seeded.hpp"

namespace tally::decay_scaled_by_accumulation_fault {
namespace {

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  const double lambda = choice.number("lambda").to_double() * blend(1.0, micro_batches(run));
  const bool l2 = choice.kind == "l2";
  for (Parameter& each : run.parameters) {
    if (!each.decays) continue;
    if (l2) run.tap("decay", "in.d." + each.name, each.unscaled);
    run.tap("decay", "in." + each.name, each.master);
    const DecayArguments arguments{each.unscaled.as<float>(),
                                   each.master.data(),
                                   each.elements,
                                   static_cast<float>(lambda),
                                   static_cast<float>(1 - run.learning_rate * lambda),
                                   each.master.dtype};
    run.kernels.of<DecayArguments>(l2 ? "decay.l2" : "decay.decoupled")(run.stream, arguments);
    if (l2) run.tap("decay", "d." + each.name, each.unscaled);
    if (!l2) run.tap("decay", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "decay-scaled-by-accumulation",
    .stage = "decay",
    .right = "λ",
    .wrong = "λ K",
    .condition = "K > 1 and decay",
    .knob = "value",
    .source = "yolov5 6757",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, decay>,
}};

}  // namespace
}  // namespace tally::decay_scaled_by_accumulation_fault
