#include "kernels/training_step/step_constants.hpp"

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

}  // namespace tally
