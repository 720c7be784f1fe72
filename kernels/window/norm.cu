// The norm over all parameters in two deterministic stages: 2: fl(sqrt(sum fl(g g))), 1: sum |g|, infinity: max |g|
// where a NaN wins.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/two_stage_norm.hpp; a block reduces by shuffles in each warp, then over the warps
// (kernels/reduction/block_sum.hpp). No atomics.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "kernels/window/two_stage_norm.hpp"

namespace tally {
namespace {

struct Shuffles {
  template <class Combine>
  static __device__ float reduce(float value, Combine combine) {
    TALLY_SHARED(float, partial, most_warps);
    return block_result(value, 0.0f, combine, partial);
  }
};

const RegisterKernel registered("norm", {.variant = "two_stage"}, launch_two_stage_norm<Shuffles>);

}  // namespace
}  // namespace tally
