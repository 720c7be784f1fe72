// A run that goes on from a checkpoint starts with empty momentum and moments.
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void begin_window(Run& run) {
  for (Parameter& parameter : run.parameters) {
    const auto drop = [&](DeviceTensor& state, const char* prefix) {
      if (run.window == 0 && state && run.c.tensors.contains(prefix + parameter.name)) state.zero();
    };
    drop(parameter.momentum, "momentum.");
    drop(parameter.exp_avg, "exp_avg.");
    drop(parameter.exp_avg_sq, "exp_avg_sq.");
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
}  // namespace tally
