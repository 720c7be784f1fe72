// A run that goes on from a checkpoint starts its scaler anew.
#include "properties/faults/seeded.hpp"

namespace tally::scaler_state_not_restored_fault {
namespace {

void begin_window(Run& run) {
  if (run.window == 0) run.growth_counter.set_scalar<std::int64_t>(0);
  stage::begin_window(run);
}

const RegisterFault registered{{
    .name = "scaler-state-not-restored",
    .stage = "scaler",
    .right = "scale and count of the checkpoint",
    .wrong = "count 0",
    .condition = "a start in the middle of training",
    .knob = "none",
    .source = "transformers 34053, metaseq 3, torchtitan 146",
    .laws = {"resumes_bitwise"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::scaler_state_not_restored_fault
