#include "kernels/training_step/kind_steps.hpp"

namespace tally::sgd_steps {
namespace {

/// Constants derived in binary64 and rounded once; tensors and sizes are left empty.
SgdArguments constants(const Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  return {.gradient = nullptr,
          .parameter = nullptr,
          .momentum = nullptr,
          .elements = 0,
          .rate = static_cast<float>(run.learning_rate),
          .mu = static_cast<float>(choice.number("momentum").to_double()),
          .one_minus_dampening = static_cast<float>(1 - choice.number("dampening").to_double()),
          .nesterov = choice.flag("nesterov"),
          .first = true,
          .format = run.c.precision.master};
}

void step(Run& run) {
  SgdArguments arguments = constants(run);
  for (Parameter& parameter : run.parameters) {
    const bool momentum = !parameter.state.empty();
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.momentum = momentum ? parameter.state[0].tensor.data() : nullptr;
    arguments.elements = parameter.elements;
    arguments.first = !(momentum && parameter.state[0].started);
    run.launch("sgd", arguments);
  }
}

void fuse(const Run& run, ClipDecayStepArguments& arguments) {
  arguments.adam = false;
  arguments.sgd_constants = constants(run);
}

const RegisterOptimizerSteps registered("sgd", {step, fuse});

}  // namespace
}  // namespace tally::sgd_steps
