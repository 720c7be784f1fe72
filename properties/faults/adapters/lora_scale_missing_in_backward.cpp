// An adapter's gradients are those of an adapter that is not scaled.
#include "kernels/scale/scale_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::lora_scale_missing_in_backward_fault {
namespace {

void otherwise(Stream& stream, ScaleArguments arguments, Kernel<ScaleArguments> right) {
  arguments.factor = 1;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty =
      with_kernel_around<otherwise>("scale.backward", "grid_stride", "lora-scale-missing-in-backward");
  return faulty;
}

const RegisterFault registered{{
    .name = "lora-scale-missing-in-backward",
    .stage = "backward",
    .right = "da = s dy B",
    .wrong = "da = dy B",
    .condition = "an adapter whose factor is not 1",
    .knob = "none",
    .source = "source mutation: a factor dropped",
    .laws = {"an_adapter_equals_merged_weights"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lora_scale_missing_in_backward_fault
