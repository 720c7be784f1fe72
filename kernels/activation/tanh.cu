// y = tanh(x), (tanh.1), and dx, (tanh.2), from x, rounded as kernels/arithmetic.md says; store S.
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"

namespace tally::tanh_kernel {
namespace {

struct Tanh {
  __device__ static float forward(float x) { return det_tanh(x); }
  __device__ static float backward(float x, float dy) {
    const float t = det_tanh(x);
    return __fmul_rn(dy, __fsub_rn(1.0f, __fmul_rn(t, t)));
  }
};

const RegisterActivation<InFloat<Tanh>> registered("tanh", {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::tanh_kernel
