// The buffer is rounded to bf16 after every addition: what is below half a unit of its last place is lost.
#include "properties/faults/planted_accumulate.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bf16_accumulator_fault {
namespace {

void accumulate(Run& run) {
  Tensor narrow(Dtype::bf16, {1});
  accumulate_by(run, [&](double buffer, double gradient) {
    narrow.set(0, buffer + gradient);
    return narrow.value(0);
  });
}

const RegisterFault registered{{
    .name = "bf16-accumulator",
    .stage = "accumulate",
    .right = "fp32 buffer",
    .wrong = "bf16 buffer",
    .condition = "K > 1; grows with K",
    .knob = "value",
    .source = "DeepSpeed 2768, Megatron-LM 149 (ISEEKYAN)",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch", "like_addends_drift_slowly"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::bf16_accumulator_fault
