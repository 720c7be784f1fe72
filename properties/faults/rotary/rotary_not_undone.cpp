// Backward turns on instead of back.
#include "kernels/rotary/rotary_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::rotary_not_undone_fault {
namespace {

void otherwise(Stream& stream, RotaryArguments arguments, Kernel<RotaryArguments> right) {
  arguments.back = false;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("rotary.backward", "table", "rotary-not-undone");
  return faulty;
}

const RegisterFault registered{{
    .name = "rotary-not-undone",
    .stage = "backward",
    .right = "dx = dy turned by -φ",
    .wrong = "dx = dy turned by φ",
    .condition = "a position that is not 0",
    .knob = "none",
    .source = "source mutation: a sign",
    .laws = {"rotary_is_relative"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rotary_not_undone_fault
