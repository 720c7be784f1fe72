// The activation goes over what the gate should let through, and the gate multiplies.
#include <utility>

#include "kernels/gated/gated_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::gate_and_up_swapped_fault {
namespace {

void otherwise(Stream& stream, GatedArguments arguments, Kernel<GatedArguments> right) {
  std::swap(arguments.gate, arguments.up);
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("gated_silu.forward", "fused", "gate-and-up-swapped");
  return faulty;
}

const RegisterFault registered{{
    .name = "gate-and-up-swapped",
    .stage = "forward",
    .right = "y = silu(gate) up",
    .wrong = "y = gate silu(up)",
    .condition = "always",
    .knob = "none",
    .source = "source mutation",
    .laws = {"a_closed_gate_passes_nothing"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gate_and_up_swapped_fault
