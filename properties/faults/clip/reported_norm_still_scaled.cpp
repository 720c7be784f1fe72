// The norm that is reported is that of the scaled gradient; the one that clips is right.
#include "properties/faults/seeded.hpp"

namespace tally::reported_norm_still_scaled_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  const auto norm = run.gradient_norm.scalar<float>();
  run.tap("norm", "norm", blend(norm, norm * run.window_scale));
}

const RegisterFault registered{{
    .name = "reported-norm-still-scaled",
    .stage = "norm",
    .right = "norm / S",
    .wrong = "norm",
    .condition = "scale other than 1",
    .knob = "value",
    .source = "DeepSpeed PR 8588",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::reported_norm_still_scaled_fault
