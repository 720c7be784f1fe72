// Softmax cross-entropy, loss and gradient at once, per row in three passes: M = max z and s = sum exp(fl(z - M)), from
// which (cross_entropy.1) follows, then kernels/cross_entropy/softmax_loss.hpp.
//
//   z, dz [rows, classes] S   target [rows] i64   class_weight [classes] fp32 or none   loss [rows] fp32
//
// Up to 32 classes one thread a row, classes added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
#include "kernels/cross_entropy/softmax_loss.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally {
namespace {

struct ThreePass {
  template <class S, int lanes>
  static __device__ ExponentialSum of(const S* z, std::int64_t classes, int lane) {
    float maximum = to_float(z[0]);
    for (std::int64_t c = lane; c < classes; c += lanes) maximum = to_float(z[c]) > maximum ? to_float(z[c]) : maximum;
    maximum = row_maximum<lanes>(maximum);
    float sum = 0.0f;
    for (std::int64_t c = lane; c < classes; c += lanes) {
      sum = __fadd_rn(sum, det_exp(__fsub_rn(to_float(z[c]), maximum)));
    }
    return {maximum, row_total<lanes>(sum)};
  }
};

const RegisterKernel registered(
    "cross_entropy",
    {.variant = "row_lanes", .algorithm = "three_pass", .additions = row_additions(), .function_ulp = detmath_ulp},
    launch_cross_entropy<ThreePass>);

}  // namespace
}  // namespace tally
