#include <cmath>

#include "kernels/training_step/kind_steps.hpp"

namespace tally::adam_steps {
namespace {

/// Constants derived in binary64 and rounded once; tensors and sizes are left empty.
AdamArguments constants(const Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  const double beta1 = choice.number("beta1").to_double(), beta2 = choice.number("beta2").to_double();
  const auto count = static_cast<double>(run.step + 1);
  return {.gradient = nullptr,
          .parameter = nullptr,
          .exp_avg = nullptr,
          .exp_avg_sq = nullptr,
          .elements = 0,
          .beta1 = static_cast<float>(beta1),
          .one_minus_beta1 = static_cast<float>(1 - beta1),
          .beta2 = static_cast<float>(beta2),
          .one_minus_beta2 = static_cast<float>(1 - beta2),
          .corrected_rate = static_cast<float>(run.learning_rate / (1 - std::pow(beta1, count))),
          .root_correction = static_cast<float>(std::sqrt(1 - std::pow(beta2, count))),
          .eps = static_cast<float>(choice.number("eps").to_double()),
          .format = run.c.precision.master};
}

void step(Run& run) {
  AdamArguments arguments = constants(run);
  for (Parameter& parameter : run.parameters) {
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.exp_avg = parameter.state[0].tensor.data();
    arguments.exp_avg_sq = parameter.state[1].tensor.data();
    arguments.elements = parameter.elements;
    run.launch("adam", arguments);
  }
}

void fuse(const Run& run, ClipDecayStepArguments& arguments) {
  arguments.adam = true;
  arguments.adam_constants = constants(run);
}

const RegisterOptimizerSteps registered("adam", {step, fuse});

}  // namespace
}  // namespace tally::adam_steps
