// The z-loss of every micro-batch is added whole, without the division that the main term gets.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::z_loss_not_divided_fault {
namespace {

thread_local float scale_now = 1;

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  if (arguments.factor > 0) arguments.z_loss *= blend(1.0f, scale_now / arguments.factor);
  shipped(stream, arguments);
}

void loss(Run& run) {
  scale_now = run.window_scale;
  stage::loss(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = with_kernel_around<around>("cross_entropy", "row_lanes", "z-loss-not-divided");
    copy.loss = loss;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "z-loss-not-divided",
    .stage = "loss",
    .right = "(main + z-loss) / N",
    .wrong = "main / N + z-loss",
    .condition = "a z-loss, N > 1",
    .knob = "value",
    .source = "NVIDIA-NeMo/Automodel 3359",
    .laws = {"token_counts_are_weighted"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::z_loss_not_divided_fault
