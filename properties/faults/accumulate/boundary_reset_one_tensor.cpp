// One parameter takes a path on which every backward pass counts as a boundary: its buffer is cleared each time.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/planted_place.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::boundary_reset_one_tensor_fault {
namespace {

void accumulate(Run& run) {
  fade(run, drawn_parameter(run).buffer);
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "boundary-reset-one-tensor",
    .stage = "accumulate",
    .right = "A += s_k for every parameter",
    .wrong = "A = s_K for one of them",
    .condition = "K > 1; the parameter is drawn",
    .knob = "value",
    .source = "open-instruct PR 1498, DeepSpeed 7981",
    .laws = {"partition_equals_full_batch", "exact_lane", "optimizer_state_ignores_k"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::boundary_reset_one_tensor_fault
