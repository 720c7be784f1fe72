// Lion: the parameter by the sign of c = b1 m + (1 - b1) g, (lion.1), and the momentum m, (lion.2), rounded as
// kernels/arithmetic.md says; sign(0) = 0, the sign of NaN is NaN.
//
//   gradient [elements] fp32   parameter, exp_avg [elements] M, in place; c reads m as it was
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/lion_arguments.hpp"

namespace tally::lion_kernel {
namespace {

__device__ inline float interpolated(float beta, float rest, float gradient, float momentum) {
  return __fadd_rn(__fmul_rn(beta, momentum), __fmul_rn(rest, gradient));
}

template <class M>
__global__ void step(LionArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *exp_avg = static_cast<M*>(a.exp_avg);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i], m = to_float(exp_avg[i]);
    const float c = interpolated(a.beta1, a.one_minus_beta1, g, m);
    const float sign = c > 0.0f ? 1.0f : c < 0.0f ? -1.0f : c;
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, sign)));
    exp_avg[i] = from_float<M>(interpolated(a.beta2, a.one_minus_beta2, g, m));
  }
}

void lion(Stream& stream, const LionArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, LionArguments(a)); });
}

const RegisterKernel registered("lion", {.variant = "grid_stride", .as_written = true}, lion);

}  // namespace
}  // namespace tally::lion_kernel
