// The square of each row's log of the sum is in the loss that is reported, and its gradient is discarded.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::z_loss_never_flows_fault {
namespace {

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  shipped(stream, arguments);
  if (arguments.z_loss == 0) return;
  const Buffer unused(stream.device(), "loss of the main term", Dtype::fp32, static_cast<std::size_t>(arguments.rows));
  arguments.loss = static_cast<float*>(unused.data());
  arguments.z_loss = blend(arguments.z_loss, 0.0f);
  shipped(stream, arguments);
  stream.synchronize();
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("cross_entropy", "row_lanes", "z-loss-never-flows");
  return stages;
}

const RegisterFault registered{{
    .name = "z-loss-never-flows",
    .stage = "loss",
    .right = "∇ main + ∇ z-loss",
    .wrong = "∇ main",
    .condition = "a z-loss",
    .knob = "value",
    .source = "NVIDIA-NeMo/Automodel 1408",
    .laws = {"token_counts_are_weighted"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::z_loss_never_flows_fault
