#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run_state.hpp"
#include "kernels/window/rmsprop_arguments.hpp"

namespace tally::rmsprop_steps {
namespace {

/// Constants are derived in binary64 and rounded once.
void step(Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  const double alpha = choice.number("alpha").to_double();
  for (Parameter& parameter : run.parameters) {
    const bool momentum = parameter.state.size() > 1;
    run.launch("rmsprop", RmspropArguments{.gradient = parameter.unscaled.as<float>(),
                                           .parameter = parameter.master.data(),
                                           .square_avg = parameter.state[0].tensor.data(),
                                           .momentum_buffer = momentum ? parameter.state[1].tensor.data() : nullptr,
                                           .elements = parameter.elements,
                                           .rate = static_cast<float>(run.learning_rate),
                                           .alpha = static_cast<float>(alpha),
                                           .one_minus_alpha = static_cast<float>(1 - alpha),
                                           .eps = static_cast<float>(choice.number("eps").to_double()),
                                           .mu = static_cast<float>(choice.number("momentum").to_double()),
                                           .format = run.c.precision.master});
  }
}

const RegisterOptimizerSteps registered("rmsprop", {step});

}  // namespace
}  // namespace tally::rmsprop_steps
