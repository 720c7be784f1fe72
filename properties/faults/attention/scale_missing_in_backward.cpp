// Backward through attention does not scale the scores' gradients.
#include <cmath>

#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::scale_missing_in_backward_fault {
namespace {

void otherwise(Stream& stream, AttentionArguments arguments, Kernel<AttentionArguments> right) {
  arguments.scale = 1;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty =
      with_kernel_around<otherwise>("attention.backward", "naive", "scale-missing-in-backward");
  return faulty;
}

const RegisterFault registered{{
    .name = "scale-missing-in-backward",
    .stage = "backward",
    .right = "dq = s dS k, with the scores of forward",
    .wrong = "s = 1",
    .condition = "heads of two features",
    .knob = "none",
    .source = "source mutation",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound", "groups_equal_copies"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::scale_missing_in_backward_fault
