#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "kernels/training_step/step_constants.hpp"

namespace tally::stage {
namespace {

void into_gradient(Run& run, Parameter& parameter, const DecayArguments& arguments) {
  run.tap("decay", "in.d." + parameter.name, parameter.unscaled);
  run.tap("decay", "in." + parameter.name, parameter.master);
  run.launch("decay.l2", arguments);
  run.tap("decay", "d." + parameter.name, parameter.unscaled);
}

void into_parameter(Run& run, Parameter& parameter, const DecayArguments& arguments) {
  run.tap("decay", "in." + parameter.name, parameter.master);
  run.launch("decay.decoupled", arguments);
  run.tap("decay", parameter.name, parameter.master);
}

/// A fused step reads them here, and writes neither.
void tap_inputs(Run& run, const Parameter& parameter) {
  const bool into_gradient = run.c.recipe.weight_decay.kind == "l2";
  if (into_gradient && run.c.recipe.clip.kind == "none") {
    run.tap("decay", "in.d." + parameter.name, parameter.unscaled);
  }
  run.tap("decay", "in." + parameter.name, parameter.master);
}

}  // namespace

void decay(Run& run) {
  DecayArguments arguments = decay_constants(run);
  for (Parameter& parameter : run.parameters) {
    if (!parameter.decays) continue;
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.elements = parameter.elements;
    if (steps_at_once(run)) {
      tap_inputs(run, parameter);
    } else {
      (run.c.recipe.weight_decay.kind == "l2" ? into_gradient : into_parameter)(run, parameter, arguments);
    }
  }
}

}  // namespace tally::stage
