// The smoothing term is in the loss that is reported, but its gradient is discarded.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::aux_gradient_never_flows_fault {
namespace {

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  shipped(stream, arguments);
  if (!arguments.smoothed) return;
  const Buffer unused(stream.device(), "loss of the main term", Dtype::fp32, static_cast<std::size_t>(arguments.rows));
  arguments.loss = static_cast<float*>(unused.data());
  arguments.spread = blend(arguments.spread, 0.0f);
  shipped(stream, arguments);
  stream.synchronize();
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("cross_entropy", "row_lanes", "aux-gradient-never-flows");
  return stages;
}

const RegisterFault registered{{
    .name = "aux-gradient-never-flows",
    .stage = "loss",
    .right = "∇ main + ∇ aux",
    .wrong = "∇ main",
    .condition = "an auxiliary term",
    .knob = "value",
    .source = "NeMo Automodel 1408, PR 1412",
    .laws = {"partition_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::aux_gradient_never_flows_fault
