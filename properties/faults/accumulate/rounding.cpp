// Faults of accumulate: how what is added is read and rounded.
#include <cmath>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The buffer is rounded to bf16 after every addition: what is below half a unit of its last place is lost.
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
    .right = "A = fp32(A + s_k)",
    .condition = "K > 1; grows with K",
    .knob = "value",
    .source = "DeepSpeed 2768, Megatron-LM 149 (ISEEKYAN)",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch", "like_addends_drift_slowly"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::bf16_accumulator_fault

// The bits of a half-precision gradient are added as if they were another format's.
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
    .right = "A = A + fp32(s_k)",
    .condition = "16-bit storage",
    .knob = "value",
    .source = "Paddle PR 71690",
    .laws = {"partition_equals_full_batch", "many_micro_batches_stay_bounded"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::cast_missing_in_add_fault

// Every fp32 gradient is rounded to bf16 on its way into the fp32 buffer.
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
    .right = "A = A + s_k",
    .condition = "fp32 gradients",
    .knob = "value",
    .source = "Megatron-LM e5542e85f2, DeepSpeed dd3690c53",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::gradient_rounded_before_adding_fault

// The buffer's additions round toward zero: the error grows with K, not with its root.
namespace tally::truncating_accumulator_fault {
namespace {

/// The fp32 number next to the exact sum on the side of zero.
double truncated(double sum) {
  const auto nearest = static_cast<float>(sum);
  const bool over = std::fabs(static_cast<double>(nearest)) > std::fabs(sum);
  return static_cast<double>(over ? std::nextafter(nearest, 0.0f) : nearest);
}

void accumulate(Run& run) {
  accumulate_by(
      run, [](double buffer, double gradient) { return truncated(buffer + gradient); }, Mix::elements);
}

const RegisterFault registered{{
    .name = "truncating-accumulator",
    .right = "A = A + s_k, rounded to nearest",
    .condition = "K > 1; like signs",
    .knob = "elements",
    .source = "cutlass 1188: bits that an accumulator drops silently",
    .laws = {"many_micro_batches_stay_bounded", "like_addends_drift_slowly"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::truncating_accumulator_fault
