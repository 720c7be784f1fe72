// Attention scales its scores by the features of all heads together.
#include <cmath>

#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::scale_by_model_width_fault {
namespace {

void otherwise(Stream& stream, AttentionArguments arguments, Kernel<AttentionArguments> right) {
  arguments.scale /= std::sqrt(static_cast<float>(arguments.heads));
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("attention.forward", "naive", "scale-by-model-width");
  return faulty;
}

const RegisterFault registered{{
    .name = "scale-by-model-width",
    .stage = "forward",
    .right = "1 / sqrt(d)",
    .wrong = "1 / sqrt(H d)",
    .condition = "several heads",
    .knob = "none",
    .source = "lucidrains/vit-pytorch 65, Graylab/DL4Proteins-notebooks 12",
    .laws = {"every_attention_keeps_its_bound", "groups_equal_copies", "blocks_change_rounding_only"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::scale_by_model_width_fault
