// The momentum buffer is cleared before every step.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::momentum_reset_each_step_fault {
namespace {

void optimizer(Run& run) {
  for (Parameter& parameter : run.parameters) {
    if (!parameter.state.empty() && parameter.state[0].of->name == "momentum") fade(run, parameter.state[0].tensor);
  }
  stage::optimizer(run);
}

const RegisterFault registered{{
    .name = "momentum-reset-each-step",
    .stage = "optimizer",
    .right = "momentum carries over",
    .wrong = "momentum starts from zero at every step",
    .condition = "the second step and later, momentum",
    .knob = "value",
    .source = "pytorch_optimizer PR 516",
    .laws = {"decay_and_momentum_once", "resumes_bitwise"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::momentum_reset_each_step_fault
