// The coefficient of momentum stands at the wrong term.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::momentum_on_the_gradient_fault {
namespace {

void around(Stream& stream, SgdArguments arguments, Kernel<SgdArguments> shipped) {
  if (arguments.momentum != nullptr && !arguments.first) {
    arguments.one_minus_dampening = blend(arguments.one_minus_dampening, arguments.mu);
    arguments.mu = blend(arguments.mu, 1.0f);
  }
  shipped(stream, arguments);
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("sgd", "grid_stride", "momentum-on-the-gradient");
  return stages;
}

const RegisterFault registered{{
    .name = "momentum-on-the-gradient",
    .stage = "optimizer",
    .right = "v = μ v + g",
    .wrong = "v = v + μ g",
    .condition = "momentum, the second step and later",
    .knob = "value",
    .source = "AiDotNet 2008, pytorch_optimizer PR 516",
    .laws = {"decay_and_momentum_once", "momentum_begins_with_the_gradient"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::momentum_on_the_gradient_fault
