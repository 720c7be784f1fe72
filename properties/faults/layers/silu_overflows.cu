// SiLU by the exponential of x: infinity over infinity far above 0.
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::silu_overflows_fault {
namespace {

struct ByTheExponential {
  __device__ static float forward(float x) {
    const float e = det_exp(x);
    return __fdiv_rn(__fmul_rn(x, e), __fadd_rn(1.0f, e));
  }
};

void planted(Stream& stream, const ActivationArguments& a) {
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "silu.forward", "grid_stride",
                  launch_activation_forward<InFloat<ByTheExponential>>);
}

const RegisterKernel kernel("silu.forward", {.variant = "~silu-overflows", .function_ulp = detmath_ulp}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("silu.forward", "silu-overflows");
  return faulty;
}

const RegisterFault registered{{
    .name = "silu-overflows",
    .stage = "forward",
    .right = "x / (1 + exp(-x))",
    .wrong = "x exp(x) / (1 + exp(x))",
    .condition = "silu; x above 88",
    .knob = "value",
    .source = "source mutation",
    .laws = {"silu_spans_the_range"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::silu_overflows_fault
