// The norm over all parameters, (clip.1), in two deterministic stages: 2: fl(sqrt(sum fl(g g))), 1: sum |g|, infinity:
// max |g| where a NaN wins.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/two_stage_norm.hpp; a block reduces by shuffles. No atomics.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/window/block_shuffles.hpp"
#include "kernels/window/two_stage_norm.hpp"

namespace tally::norm_kernel {
namespace {

const RegisterKernel registered("norm", {.variant = "two_stage", .additions = two_stage_additions()},
                                launch_two_stage_norm<BlockShuffles>);

}  // namespace
}  // namespace tally::norm_kernel
