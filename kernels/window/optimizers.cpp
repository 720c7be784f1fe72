// How a step runs each optimizer.
#include <algorithm>
#include <cmath>
#include <deque>

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

namespace tally::adafactor_steps {
namespace {

/// Constants derived in binary64 and rounded once; tensors and sizes are left empty.
AdafactorArguments constants(const Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  const auto count = static_cast<double>(run.step + 1);
  const double eps1 = choice.number("eps1").to_double();
  AdafactorArguments a{};
  a.share = static_cast<float>(std::pow(count, -choice.number("decay").to_double()));
  a.rho = static_cast<float>(std::min(run.learning_rate, 1 / std::sqrt(count)));
  a.eps1 = static_cast<float>(eps1);
  a.squared_eps1 = static_cast<float>(eps1 * eps1);
  a.eps2 = static_cast<float>(choice.number("eps2").to_double());
  a.d = static_cast<float>(choice.number("d").to_double());
  a.format = run.c.precision.master;
  return a;
}

/// Of a matrix the last two dimensions; of a vector each element is a row.
void take_sizes(const Parameter& parameter, AdafactorArguments& a) {
  const auto& shape = parameter.master.shape;
  const bool factored = shape.size() >= 2;
  a.columns = factored ? shape.back() : 1;
  a.rows = factored ? shape[shape.size() - 2] : parameter.elements;
  a.matrices = parameter.elements == 0 ? 0 : parameter.elements / (a.rows * a.columns);
  a.per_row = static_cast<float>(a.columns);
  a.per_column = static_cast<float>(a.rows);
  a.per_tensor = static_cast<float>(parameter.elements);
}

void step(Run& run) {
  AdafactorArguments a = constants(run);
  std::deque<DeviceTensor> sums;  // until the last launch is through
  for (Parameter& parameter : run.parameters) {
    take_sizes(parameter, a);
    const std::vector<std::int64_t> all{2 + a.matrices};
    a.gradient = parameter.unscaled.as<float>();
    a.parameter = parameter.master.data();
    a.row = parameter.state[0].tensor.data();
    a.column = parameter.state.size() > 1 ? parameter.state[1].tensor.data() : nullptr;
    a.sums = sums.emplace_back(run.device, "sums of " + parameter.name, Dtype::fp32, all).as<float>();
    run.launch("adafactor", a);
  }
  run.stream.synchronize();
}

const RegisterKind<OptimizerSteps> registered("adafactor", {step});

}  // namespace
}  // namespace tally::adafactor_steps
