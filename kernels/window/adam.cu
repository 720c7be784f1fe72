// Adam: m = fl(fl(b1 m) + fl((1 - b1) g)), v = fl(fl(b2 v) + fl((1 - b2) fl(g g))),
// p = fl(p - fl(fl(lr / bc1) * fl(m / fl(fl(fl(sqrt v) / fl(sqrt bc2)) + eps)))); the corrections come rounded to fp32.
//
//   gradient, parameter, exp_avg, exp_avg_sq [elements] fp32; all but the gradient in place
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

struct Moments {
  float *first, *second;
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
};

__global__ void step(const float* gradient, float* parameter, Moments moments, std::int64_t elements,
                     float corrected_rate, float root_correction, float eps) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float g = gradient[i];
    const float m = __fadd_rn(__fmul_rn(moments.beta1, moments.first[i]), __fmul_rn(moments.one_minus_beta1, g));
    const float v =
        __fadd_rn(__fmul_rn(moments.beta2, moments.second[i]), __fmul_rn(moments.one_minus_beta2, __fmul_rn(g, g)));
    moments.first[i] = m;
    moments.second[i] = v;
    const float divisor = __fadd_rn(__fdiv_rn(__fsqrt_rn(v), root_correction), eps);
    parameter[i] = __fsub_rn(parameter[i], __fmul_rn(corrected_rate, __fdiv_rn(m, divisor)));
  }
}

void adam(Stream& stream, const AdamArguments& a) {
  const Moments moments{a.exp_avg, a.exp_avg_sq, a.beta1, a.one_minus_beta1, a.beta2, a.one_minus_beta2};
  launch_elements<step>(stream, a.elements, a.gradient, a.parameter, moments, a.elements, a.corrected_rate,
                        a.root_correction, a.eps);
}

const RegisterKernel registered("adam", {.variant = "grid_stride"}, adam);

}  // namespace
}  // namespace tally
