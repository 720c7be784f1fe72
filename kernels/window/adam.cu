// Adam: the moments m, (adam.1), and v, (adam.2), then the parameter, (adam.3), rounded as kernels/arithmetic.md says;
// lr / bc1 and sqrt bc2, in which the bias corrections enter, come rounded to fp32.
//
//   gradient [elements] fp32   parameter, exp_avg, exp_avg_sq [elements] M, in place; the step reads m and v as stored
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::adam_kernel {
namespace {

template <class M>
struct Moments {
  M *first, *second;
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
};

template <class M>
__global__ void step(const float* gradient, M* parameter, Moments<M> moments, std::int64_t elements,
                     float corrected_rate, float root_correction, float eps) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float g = gradient[i];
    moments.first[i] = from_float<M>(
        __fadd_rn(__fmul_rn(moments.beta1, to_float(moments.first[i])), __fmul_rn(moments.one_minus_beta1, g)));
    moments.second[i] = from_float<M>(__fadd_rn(__fmul_rn(moments.beta2, to_float(moments.second[i])),
                                                __fmul_rn(moments.one_minus_beta2, __fmul_rn(g, g))));
    const float m = to_float(moments.first[i]), v = to_float(moments.second[i]);
    const float divisor = __fadd_rn(__fdiv_rn(__fsqrt_rn(v), root_correction), eps);
    const float move = __fmul_rn(corrected_rate, __fdiv_rn(m, divisor));
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), move));
  }
}

void adam(Stream& stream, const AdamArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    const Moments<M> moments{
        static_cast<M*>(a.exp_avg), static_cast<M*>(a.exp_avg_sq), a.beta1, a.one_minus_beta1, a.beta2,
        a.one_minus_beta2};
    launch_elements<step<M>>(stream, a.elements, a.gradient, static_cast<M*>(a.parameter), moments, a.elements,
                             a.corrected_rate, a.root_correction, a.eps);
  });
}

const RegisterKernel registered("adam", {.variant = "grid_stride", .as_written = true}, adam);

}  // namespace
}  // namespace tally::adam_kernel
