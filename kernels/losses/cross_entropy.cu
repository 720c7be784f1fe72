// Softmax cross-entropy: in three passes, and with one for the maximum and the sum.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/losses/softmax_loss.hpp"

// Softmax cross-entropy, loss and gradient at once, per row in three passes: M = max z and s = sum exp(fl(z - M)), from
// which (cross_entropy.1) follows, then kernels/losses/softmax_loss.hpp.
//
//   z, dz [rows, classes] S   target [rows] i64   class_weight [classes] fp32 or none   loss [rows] fp32
//
// Up to 32 classes one thread a row, classes added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
namespace tally::cross_entropy_kernel {
namespace {

const RegisterKernel registered(
    "cross_entropy",
    {.variant = "row_lanes", .algorithm = "three_pass", .additions = row_additions(), .function_ulp = detmath_ulp},
    launch_cross_entropy<ThreePass>);

}  // namespace
}  // namespace tally::cross_entropy_kernel

// Softmax cross-entropy with one pass for the maximum and the sum in (cross_entropy.1): a logit above the running
// maximum m rescales the running sum, s = fl(fl(s exp(fl(m - z))) + 1), m = z; any other adds exp(fl(z - m)). Then
// kernels/losses/softmax_loss.hpp: loss and gradient read the logits a second time.
//
//   z, dz [rows, classes] S   target [rows] i64   class_weight [classes] fp32 or none   loss [rows] fp32
//
// Up to 32 classes one thread a row, classes in order; from 33 lane l takes classes l, l + 32, ..., and two lanes meet
// as M = max(m_a, m_b), s = fl(fl(s_a exp(fl(m_a - M))) + fl(s_b exp(fl(m_b - M)))) in a shuffle tree of five levels.
namespace tally::cross_entropy_online_kernel {
namespace {

constexpr unsigned minus_infinity = 0xff800000u;

/// 1 without an exponential for the larger maximum, also where both are -infinity: no logit was above it yet.
__device__ float rescaled(float sum, float maximum, float larger) {
  return maximum == larger ? sum : __fmul_rn(sum, det_exp(__fsub_rn(maximum, larger)));
}

struct Online {
  /// A logit of -infinity adds nothing, so that a row may begin with one. exp(z - z) is 1, or NaN for an infinite z.
  template <class S, int lanes>
  static __device__ ExponentialSum of(const S* z, std::int64_t classes, int lane) {
    float maximum = __uint_as_float(minus_infinity), sum = 0.0f;
    for (std::int64_t c = lane; c < classes; c += lanes) {
      const float value = to_float(z[c]);
      if (value == __uint_as_float(minus_infinity)) continue;
      const float larger = value > maximum ? value : maximum;
      sum = __fadd_rn(rescaled(sum, maximum, larger), det_exp(__fsub_rn(value, larger)));
      maximum = larger;
    }
    if constexpr (lanes > 1) {
      for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(whole_warp, maximum, distance);
        const float other_sum = __shfl_xor_sync(whole_warp, sum, distance);
        const float larger = other > maximum ? other : maximum;
        sum = __fadd_rn(rescaled(sum, maximum, larger), rescaled(other_sum, other, larger));
        maximum = larger;
      }
    }
    return {maximum, sum};
  }
};

const RegisterKernel registered(
    "cross_entropy",
    {.variant = "online", .algorithm = "online", .additions = row_additions(), .function_ulp = detmath_ulp},
    launch_cross_entropy<Online>, KernelUse::when_named);

}  // namespace
}  // namespace tally::cross_entropy_online_kernel
