// Backward through RMS norm leaves the weight out: g is dy, not dy w.
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::norm_weight_missing_in_dx_fault {
namespace {

void otherwise(Stream& stream, NormBackwardArguments arguments, Kernel<NormBackwardArguments> right) {
  arguments.weight = nullptr;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty =
      with_kernel_around<otherwise>("rms_norm.backward", "row_lanes", "norm-weight-missing-in-dx");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-weight-missing-in-dx",
    .stage = "backward",
    .right = "g = dy w'",
    .wrong = "g = dy",
    .condition = "a weight that is not 1, of a norm that is not the first layer",
    .knob = "none",
    .source = "karpathy/llm.c 763",
    .laws = {"kernels_keep_their_bound_at_edges", "groups_equal_copies", "every_launch_path_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_weight_missing_in_dx_fault
