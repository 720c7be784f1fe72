// Features turn in other pairs than the model was made with.
#include "kernels/rotary/rotary_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::rotary_pairs_mixed_fault {
namespace {

void otherwise(Stream& stream, RotaryArguments arguments, Kernel<RotaryArguments> right) {
  arguments.interleaved = !arguments.interleaved;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("rotary.forward", "table", "rotary-pairs-mixed");
  return faulty;
}

const RegisterFault registered{{
    .name = "rotary-pairs-mixed",
    .stage = "forward",
    .right = "pairs (i, i + r/2), or (2 i, 2 i + 1) where the model says so",
    .wrong = "the other pairs",
    .condition = "more than two features that turn, a position that is not 0",
    .knob = "none",
    .source = "warpfront/hipfire 241, raiyanyahya/how-to-train-your-gpt 6",
    .laws = {"rotary_is_relative"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rotary_pairs_mixed_fault
