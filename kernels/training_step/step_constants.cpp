#include "kernels/training_step/step_constants.hpp"

#include <cmath>

namespace tally {

DecayArguments decay_constants(const Run& run) {
  const double lambda = run.c.recipe.weight_decay.number("lambda").to_double();
  return {.gradient = nullptr,
          .parameter = nullptr,
          .elements = 0,
          .lambda = static_cast<float>(lambda),
          .factor = static_cast<float>(1 - run.learning_rate * lambda),
          .format = run.c.precision.master};
}

SgdArguments sgd_constants(const Run& run) {
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

AdamArguments adam_constants(const Run& run) {
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

}  // namespace tally
