// A run that goes on from a checkpoint starts with empty momentum and moments.
#include "properties/faults/seeded.hpp"

namespace tally::moments_not_restored_fault {
namespace {

void begin_window(Run& run) {
  for (Parameter& parameter : run.parameters) {
    for (KeptState& kept : parameter.state)
      if (run.window == 0 && run.c.tensors.contains(kept.of->name + "." + parameter.name)) kept.tensor.zero();
  }
  stage::begin_window(run);
}

const RegisterFault registered{{
    .name = "moments-not-restored",
    .stage = "optimizer",
    .right = "momentum and moments of the checkpoint",
    .wrong = "zeros",
    .condition = "a start in the middle of training",
    .knob = "none",
    .source = "source mutation",
    .laws = {"state_is_taken_over", "resumes_bitwise"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::moments_not_restored_fault
