#include <cmath>

#include "kernels/training_step/stages.hpp"

namespace tally::stage {
namespace {

void tap_inputs(Run& run, const Parameter& parameter) {
  run.tap("optimizer", "in.d." + parameter.name, parameter.unscaled);
  run.tap("optimizer", "in." + parameter.name, parameter.master);
}

void sgd(Run& run, const Choice& choice) {
  const double mu = choice.number("momentum").to_double();
  for (Parameter& parameter : run.parameters) {
    tap_inputs(run, parameter);
    if (parameter.momentum_started) run.tap("optimizer", "in.momentum." + parameter.name, parameter.momentum);
    run.kernels.sgd(run.stream, {.gradient = parameter.unscaled.as<float>(),
                                 .parameter = parameter.master.data(),
                                 .momentum = parameter.momentum ? parameter.momentum.data() : nullptr,
                                 .elements = parameter.elements,
                                 .rate = static_cast<float>(run.learning_rate),
                                 .mu = static_cast<float>(mu),
                                 .one_minus_dampening = static_cast<float>(1 - choice.number("dampening").to_double()),
                                 .nesterov = choice.flag("nesterov"),
                                 .first = !parameter.momentum_started,
                                 .format = parameter.master.dtype});
    run.tap("optimizer", parameter.name, parameter.master);
    if (!parameter.momentum) continue;
    parameter.momentum_started = true;
    run.tap("optimizer", "momentum." + parameter.name, parameter.momentum);
  }
}

/// The constants of step t, each rounded once.
AdamArguments constants_of(const Run& run, const Choice& choice) {
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

void adam(Run& run, const Choice& choice) {
  AdamArguments arguments = constants_of(run, choice);
  for (Parameter& parameter : run.parameters) {
    tap_inputs(run, parameter);
    run.tap("optimizer", "in.exp_avg." + parameter.name, parameter.exp_avg);
    run.tap("optimizer", "in.exp_avg_sq." + parameter.name, parameter.exp_avg_sq);
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.exp_avg = parameter.exp_avg.data();
    arguments.exp_avg_sq = parameter.exp_avg_sq.data();
    arguments.elements = parameter.elements;
    run.kernels.adam(run.stream, arguments);
    run.tap("optimizer", parameter.name, parameter.master);
    run.tap("optimizer", "exp_avg." + parameter.name, parameter.exp_avg);
    run.tap("optimizer", "exp_avg_sq." + parameter.name, parameter.exp_avg_sq);
  }
}

}  // namespace

void optimizer(Run& run) {
  const Choice& choice = run.c.recipe.optimizer;
  run.tap("optimizer", "in.learning_rate", static_cast<float>(run.learning_rate));
  run.tap("optimizer", "in.step", run.step);
  (choice.kind == "adam" ? adam : sgd)(run, choice);
  run.last_step_window = run.window;
}

}  // namespace tally::stage
