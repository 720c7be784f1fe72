// Every fp32 gradient is rounded to bf16 on its way into the fp32 buffer.
#include "properties/faults/planted_accumulate.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::gradient_rounded_before_adding_fault {
namespace {

void accumulate(Run& run) {
  if (run.c.precision.storage != Dtype::fp32) return stage::accumulate(run);
  Tensor narrow(Dtype::bf16, {1});
  accumulate_by(run, [&](double buffer, double gradient) {
    narrow.set(0, gradient);
    return buffer + narrow.value(0);
  });
}

const RegisterFault registered{{
    .name = "gradient-rounded-before-adding",
    .stage = "accumulate",
    .right = "A += s_k",
    .wrong = "A += bf16(s_k)",
    .condition = "fp32 gradients",
    .knob = "value",
    .source = "Megatron-LM e5542e85f2, DeepSpeed dd3690c53",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::gradient_rounded_before_adding_fault
