// The first step, which has no buffer yet, is dampened like all others.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::dampening_on_first_step_fault {
namespace {

void around(Stream& stream, SgdArguments arguments, Kernel<SgdArguments> shipped) {
  if (arguments.first && magnitude() > 0) {
    arguments.first = false;  // the buffer holds zeros
    arguments.one_minus_dampening = blend(1.0f, arguments.one_minus_dampening);
  }
  shipped(stream, arguments);
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("sgd", "grid_stride", "dampening-on-first-step");
  return stages;
}

const RegisterFault registered{{
    .name = "dampening-on-first-step",
    .stage = "optimizer",
    .right = "v = g at the first step",
    .wrong = "v = (1 - d) g",
    .condition = "momentum with dampening, the first step",
    .knob = "value",
    .source = "PyTorch SGD: the first buffer is the gradient",
    .laws = {"momentum_begins_with_the_gradient"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::dampening_on_first_step_fault
