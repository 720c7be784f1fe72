// y = x s(x) with s(x) = 1 / (1 + exp(-x)), (silu.1), and dx, (silu.2), from x, rounded as kernels/arithmetic.md says;
// store S.
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"

namespace tally::silu_kernel {
namespace {

struct Silu {
  __device__ static float logistic(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }
  __device__ static float forward(float x) { return __fmul_rn(x, logistic(x)); }
  __device__ static float backward(float x, float dy) {
    const float s = logistic(x);
    return __fmul_rn(dy, __fmul_rn(s, __fadd_rn(1.0f, __fmul_rn(x, __fsub_rn(1.0f, s)))));
  }
};

const RegisterActivation<InFloat<Silu>> registered("silu", {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::silu_kernel
