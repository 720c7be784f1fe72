// How a step runs sharpness-aware minimisation.
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::sam_steps {
namespace {

bool goes_up(const Run& run) { return run.step % 2 == 0; }

void coefficient(Run& run) {
  const Choice& clip = run.c.recipe.clip;
  run.launch("sam_coefficient",
             SamCoefficientArguments{run.gradient_norm.as<float>(), run.coefficient.as<float>(),
                                     static_cast<float>(clip.number("rho").to_double()),
                                     static_cast<float>(clip.number("epsilon").to_double()), goes_up(run)});
}

void clip(Run& run, Parameter& parameter) {
  run.launch<ClipByNormArguments>("clip_by_norm",
                                  {parameter.unscaled.as<float>(), run.coefficient.as<float>(), parameter.elements});
}

void step(Run& run) {
  for (Parameter& parameter : run.parameters)
    run.launch("sam", SamArguments{.gradient = parameter.unscaled.as<float>(),
                                   .parameter = parameter.master.data(),
                                   .kept = parameter.state[0].tensor.data(),
                                   .elements = parameter.elements,
                                   .rate = static_cast<float>(run.learning_rate),
                                   .up = goes_up(run),
                                   .format = run.c.precision.master});
}

const RegisterKind<ClipSteps> registered_ascent("sam_ascent",
                                                {"clip_by_norm", clip, nullptr, coefficient, "sam_coefficient"});
const RegisterKind<OptimizerSteps> registered("sam", {step});

}  // namespace
}  // namespace tally::sam_steps
