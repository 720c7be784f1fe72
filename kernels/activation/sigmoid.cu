// y = 1 / (1 + exp(-x)), (sigmoid.1), and dx, (sigmoid.2), from x, rounded as kernels/arithmetic.md says; store S.
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"

namespace tally::sigmoid_kernel {
namespace {

struct Sigmoid {
  __device__ static float forward(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }
  __device__ static float backward(float x, float dy) {
    const float s = forward(x);
    return __fmul_rn(dy, __fmul_rn(s, __fsub_rn(1.0f, s)));
  }
};

const RegisterActivation<InFloat<Sigmoid>> registered("sigmoid",
                                                      {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::sigmoid_kernel
