// The decay is tapped and never applied.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::decay_forgotten_fault {
namespace {

void decay(Run& run) {
  std::vector<bool> decays;
  for (Parameter& parameter : run.parameters) decays.push_back(std::exchange(parameter.decays, false));
  stage::decay(run);
  for (std::size_t i = 0; i < decays.size(); ++i) run.parameters[i].decays = decays[i];
}

const RegisterFault registered{{
    .name = "decay-forgotten",
    .bug = "decay-left-out",
    .right = "g + λ p, or p (1 - lr λ)",
    .condition = "weight decay",
    .knob = "none",
    .source = "a sample",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, decay>,
}};

}  // namespace
}  // namespace tally::decay_forgotten_fault
