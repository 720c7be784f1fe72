// One addition by atomicAdd in shared memory and one in global memory: whether they flush subnormal numbers.
//
//   sums [2] fp32: the sums in shared and in global memory, each 0 + addend
#include "kernels/device/kernel_registry.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/probes/probes.hpp"

namespace tally::atomic_add_kernel {
namespace {

__global__ void add_twice(float addend, float* sums) {
  TALLY_SHARED(float, sum, 1);
  sum[0] = 0.0f;
  sums[1] = 0.0f;
  atomicAdd(&sum[0], addend);
  atomicAdd(&sums[1], addend);
  sums[0] = sum[0];
}

void add(Stream& stream, const AtomicAddArguments& a) { launch<add_twice>(stream, {1, 1}, a.addend, a.sums); }

const RegisterKernel registered("probe.atomic_add", {.variant = "one_thread", .global_float_atomics = true}, add,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::atomic_add_kernel
