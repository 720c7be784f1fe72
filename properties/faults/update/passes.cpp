// Faults of steps that take two windows of the same rows.
#include "kernels/window/arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The second window steps from where the first moved the weights.
namespace tally::sam_steps_from_moved_weights_fault {
namespace {

void around(Stream& stream, SamArguments arguments, Kernel<SamArguments> shipped) {
  if (!arguments.up && magnitude() > 0) arguments.kept = arguments.parameter;
  shipped(stream, arguments);
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("sam", "grid_stride", "sam-steps-from-moved-weights");
  return stages;
}

const RegisterFault registered{{
    .name = "sam-steps-from-moved-weights",
    .right = "p = k - lr g",
    .condition = "the second of two windows",
    .knob = "none",
    .source = "source mutation: the weights are not put back",
    .laws = {"a_second_pass_steps_from_kept_weights"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::sam_steps_from_moved_weights_fault
