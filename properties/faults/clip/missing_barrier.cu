// The norm reads its neighbours' partial sums before they are written.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::missing_barrier_fault {
namespace {

constexpr unsigned threads = 64;

/// Sums squares through shared memory, and reads its neighbour's part without waiting for it.
__global__ void sum_without_barrier(const float* values, std::int64_t elements, float* norm) {
  TALLY_SHARED(float, partial, threads);
  float sum = 0.0f;
  for (std::int64_t i = threadIdx.x; i < elements; i += blockDim.x)
    sum = __fadd_rn(sum, __fmul_rn(values[i], values[i]));
  partial[threadIdx.x] = sum;
  if (threadIdx.x != 0) return;
  for (unsigned t = 1; t < threads; ++t) sum = __fadd_rn(sum, partial[t]);
  *norm = __fadd_rn(*norm, sum);
}

__global__ void take_root(float* norm) { *norm = __fsqrt_rn(*norm); }

__global__ void clear(float* norm) { *norm = 0.0f; }

void norm(Stream& stream, const NormArguments& a) {
  launch(stream, {1, 1}, clear, a.norm);
  for (const NormSource& source : a.sources) {
    launch(stream, {1, threads}, sum_without_barrier, source.values, source.elements, a.norm);
  }
  launch(stream, {1, 1}, take_root, a.norm);
}

const RegisterKernel kernel("norm", {.variant = "~missing-barrier"}, norm);

const Stages& stages() {
  static const Stages faulty = with_kernel("norm", "missing-barrier");
  return faulty;
}

const RegisterFault registered{{
    .name = "missing-barrier",
    .right = "barrier between writing and reading shared memory",
    .wrong = "no barrier",
    .condition = "more than one warp",
    .knob = "none",
    .source = "arrayfire PR 633, llm.c 0f144e3",
    .laws = {"clip_once_after_unscale", "any_schedule_of_threads", "no_data_race", "observation_changes_nothing",
             "repeats_bitwise", "stages_repeat_elsewhere"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::missing_barrier_fault
