#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run_state.hpp"
#include "kernels/window/lion_arguments.hpp"

namespace tally::lion_steps {
namespace {

/// Constants are derived in binary64 and rounded once.
void step(Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  const double beta1 = choice.number("beta1").to_double(), beta2 = choice.number("beta2").to_double();
  for (Parameter& parameter : run.parameters) {
    run.launch("lion", LionArguments{.gradient = parameter.unscaled.as<float>(),
                                     .parameter = parameter.master.data(),
                                     .exp_avg = parameter.state[0].tensor.data(),
                                     .elements = parameter.elements,
                                     .rate = static_cast<float>(run.learning_rate),
                                     .beta1 = static_cast<float>(beta1),
                                     .one_minus_beta1 = static_cast<float>(1 - beta1),
                                     .beta2 = static_cast<float>(beta2),
                                     .one_minus_beta2 = static_cast<float>(1 - beta2),
                                     .format = run.c.precision.master});
  }
}

const RegisterOptimizerSteps registered("lion", {step});

}  // namespace
}  // namespace tally::lion_steps
