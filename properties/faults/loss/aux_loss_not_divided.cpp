// The smoothing term is added whole to every micro-batch, without the division that the main term gets.
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::aux_loss_not_divided_fault {
namespace {

thread_local int micro_batches_now = 1;

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  arguments.spread *= blend(1.0f, static_cast<float>(micro_batches_now));
  shipped(stream, arguments);
}

void loss(Run& run) {
  micro_batches_now = micro_batches(run);
  stage::loss(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = with_kernel_around<around>("cross_entropy", "row_lanes", "aux-loss-not-divided");
    copy.loss = loss;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "aux-loss-not-divided",
    .stage = "loss",
    .right = "(main + aux) / N",
    .wrong = "(main + K aux) / N",
    .condition = "K > 1, an auxiliary term",
    .knob = "value",
    .source = "NeMo Automodel PR 3359, Megatron-LM 9ef8a2a420",
    .laws = {"partition_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::aux_loss_not_divided_fault
