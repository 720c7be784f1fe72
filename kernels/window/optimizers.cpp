// How a step runs each optimizer.
#include <cmath>

#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/window/arguments.hpp"

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

const RegisterKind<OptimizerSteps> registered("sgd", {step, fuse});

}  // namespace
}  // namespace tally::sgd_steps

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

const RegisterKind<OptimizerSteps> registered("adam", {step, fuse});

}  // namespace
}  // namespace tally::adam_steps

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

const RegisterKind<OptimizerSteps> registered("lion", {step});

}  // namespace
}  // namespace tally::lion_steps

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

const RegisterKind<OptimizerSteps> registered("rmsprop", {step});

}  // namespace
}  // namespace tally::rmsprop_steps
