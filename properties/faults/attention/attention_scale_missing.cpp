// Attention does not scale its scores.
#include <cmath>

#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::attention_scale_missing_fault {
namespace {

void otherwise(Stream& stream, AttentionArguments arguments, Kernel<AttentionArguments> right) {
  arguments.scale = 1;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("attention.forward", "naive", "attention-scale-missing");
  return faulty;
}

const RegisterFault registered{{
    .name = "attention-scale-missing",
    .stage = "forward",
    .right = "t = q . k / sqrt(d)",
    .wrong = "t = q . k",
    .condition = "heads of two features",
    .knob = "none",
    .source = "mlc-ai/mlc-llm 3426",
    .laws = {"every_attention_keeps_its_bound", "blocks_change_rounding_only"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::attention_scale_missing_fault
