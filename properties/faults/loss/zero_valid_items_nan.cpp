// The mean over no items poisons the window.
#include <limits>

#include "properties/faults/seeded.hpp"

namespace tally::zero_valid_items_nan_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.items(run.micro_batch) == 0) run.factor = std::numeric_limits<float>::quiet_NaN();
}

const RegisterFault registered{{
    .name = "zero-valid-items-nan",
    .stage = "loss",
    .right = "an empty micro-batch adds nothing",
    .wrong = "0 / 0",
    .condition = "a micro-batch with n_k = 0",
    .knob = "none",
    .source = "nanochat PR 623, pytorch 70348",
    .laws = {"unequal_items_are_weighted", "empty_window_takes_its_step"},
    .stages = replaced<&Stages::factor, factor>,
}};

}  // namespace
}  // namespace tally::zero_valid_items_nan_fault
