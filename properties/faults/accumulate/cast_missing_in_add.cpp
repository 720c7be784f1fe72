// The bits of a half-precision gradient are added as if they were another format's.
#include "properties/faults/planted_accumulate.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::cast_missing_in_add_fault {
namespace {

void accumulate(Run& run) {
  if (run.c.precision.storage != Dtype::fp16) return stage::accumulate(run);
  Tensor half(Dtype::fp16, {1}), mistaken(Dtype::bf16, {1});
  accumulate_by(run, [&](double buffer, double gradient) {
    half.set(0, gradient);
    mistaken.set_bits(0, half.bits(0));
    return buffer + mistaken.value(0);
  });
}

const RegisterFault registered{{
    .name = "cast-missing-in-add",
    .stage = "accumulate",
    .right = "A += fp32(s_k)",
    .wrong = "A += the bits of s_k read as bf16",
    .condition = "16-bit storage",
    .knob = "value",
    .source = "Paddle PR 71690",
    .laws = {"partition_equals_full_batch", "many_micro_batches_stay_bounded"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::cast_missing_in_add_fault
