// The gradient of an RMS norm's weight is added from parts that were kept in bf16, a row each, and claims parts in fp32.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::norm_weight_gradient_in_bf16_fault {
namespace {

template <class S>
__global__ void from_parts_in_bf16(const S* x, const S* dy, const float* rstd, S* dw, std::int64_t rows,
                                   std::int64_t features) {
  for (std::int64_t j = first_element(); j < features; j += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t i = row * features + j;
      const float part = __fmul_rn(to_float(dy[i]), __fmul_rn(to_float(x[i]), rstd[row]));
      sum = __fadd_rn(sum, to_float(from_float<bfloat16>(part)));
    }
    dw[j] = from_float<S>(sum);
  }
}

void in_bf16(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<from_parts_in_bf16<S>>(stream, a.features, static_cast<const S*>(a.x), static_cast<const S*>(a.dy),
                                           a.rstd, static_cast<S*>(a.dw), a.rows, a.features);
  });
}

void planted(Stream& stream, const NormGradientArguments& a) {
  between_kernels(stream, a, {{a.dw, a.storage, a.features}}, "rms_norm.weight_gradient", "column_lanes", in_bf16);
}

const RegisterKernel kernel("rms_norm.weight_gradient",
                            {.variant = "~norm-weight-gradient-in-bf16", .algorithm = "cast_last"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.weight_gradient", "norm-weight-gradient-in-bf16");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-weight-gradient-in-bf16",
    .stage = "backward",
    .right = "dw = S(Σ dy h), every part in fp32",
    .wrong = "dw = S(Σ bf16(dy h))",
    .condition = "two rows or more",
    .knob = "value",
    .source = "linkedin/Liger-Kernel 950",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_weight_gradient_in_bf16_fault
