#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/window/descent_arguments.hpp"

namespace tally::descent_steps {
namespace {

void step(Run& run) {
  for (Parameter& parameter : run.parameters)
    run.launch("descent", DescentArguments{.gradient = parameter.unscaled.as<float>(),
                                           .parameter = parameter.master.data(),
                                           .elements = parameter.elements,
                                           .rate = static_cast<float>(run.learning_rate),
                                           .format = run.c.precision.master});
}

const RegisterKind<OptimizerSteps> registered("descent", {step});

}  // namespace
}  // namespace tally::descent_steps
