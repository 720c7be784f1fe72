#include "kernels/training_step/stages.hpp"

namespace tally::stage {
namespace {

void into_gradient(Run& run, Parameter& parameter, const DecayArguments& arguments) {
  run.tap("decay", "in.d." + parameter.name, parameter.unscaled);
  run.tap("decay", "in." + parameter.name, parameter.master);
  run.kernels.decay_l2(run.stream, arguments);
  run.tap("decay", "d." + parameter.name, parameter.unscaled);
}

void into_parameter(Run& run, Parameter& parameter, const DecayArguments& arguments) {
  run.tap("decay", "in." + parameter.name, parameter.master);
  run.kernels.decay_decoupled(run.stream, arguments);
  run.tap("decay", parameter.name, parameter.master);
}

}  // namespace

void decay(Run& run) {
  const Choice& choice = run.c.recipe.weight_decay;
  const double lambda = choice.number("lambda").to_double();
  for (Parameter& parameter : run.parameters) {
    if (!parameter.decays) continue;
    const DecayArguments arguments{parameter.unscaled.as<float>(),
                                   parameter.master.data(),
                                   parameter.elements,
                                   static_cast<float>(lambda),
                                   static_cast<float>(1 - run.learning_rate * lambda),
                                   parameter.master.dtype};
    (choice.kind == "l2" ? into_gradient : into_parameter)(run, parameter, arguments);
  }
}

}  // namespace tally::stage
