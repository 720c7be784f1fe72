// The norm over all parameters, (clip.1), in two deterministic stages, of the three kinds of kernels/window/norm.cu.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/two_stage_norm.hpp; a block reduces by a tree in shared memory, where thread t
// takes in t + ceil(n/2) of the n values left. No shuffles, no atomics.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/window/two_stage_norm.hpp"

namespace tally::norm_shared_tree_kernel {
namespace {

constexpr int most_threads = 256;

struct SharedTree {
  template <class Combine>
  static __device__ float reduce(float value, Combine combine) {
    TALLY_SHARED(float, values, most_threads);
    values[threadIdx.x] = value;
    __syncthreads();
    for (unsigned left = blockDim.x; left > 1;) {
      const unsigned half = (left + 1) / 2;
      if (threadIdx.x < left - half) values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
      __syncthreads();
      left = half;
    }
    return values[0];
  }
};

const RegisterKernel registered("norm", {.variant = "shared_tree", .additions = two_stage_additions()},
                                launch_two_stage_norm<SharedTree>, KernelUse::when_named);

}  // namespace
}  // namespace tally::norm_shared_tree_kernel
