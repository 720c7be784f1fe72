// Softmax cross-entropy, loss and gradient at once, per row in three passes: M = max z and s = sum exp(fl(z - M)), from
// which (cross_entropy.1) follows, then kernels/cross_entropy/softmax_loss.hpp.
//
//   z, dz [rows, classes] S   target [rows] i64   class_weight [classes] fp32 or none   loss [rows] fp32
//
// Up to 32 classes one thread a row, classes added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/cross_entropy/three_pass.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally::cross_entropy_kernel {
namespace {

const RegisterKernel registered(
    "cross_entropy",
    {.variant = "row_lanes", .algorithm = "three_pass", .additions = row_additions(), .function_ulp = detmath_ulp},
    launch_cross_entropy<ThreePass>);

}  // namespace
}  // namespace tally::cross_entropy_kernel
