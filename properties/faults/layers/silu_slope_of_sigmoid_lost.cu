// SiLU's slope without the term that the logistic function's own slope gives.
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::silu_slope_of_sigmoid_lost_fault {
namespace {

struct WithoutItsSlope {
  __device__ static float backward(float x, float dy) {
    return __fmul_rn(dy, __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))));
  }
};

void planted(Stream& stream, const ActivationArguments& a) {
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "silu.backward", "grid_stride",
                  launch_activation_backward<InFloat<WithoutItsSlope>>);
}

const RegisterKernel kernel("silu.backward", {.variant = "~silu-slope-of-sigmoid-lost", .function_ulp = detmath_ulp},
                            planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("silu.backward", "silu-slope-of-sigmoid-lost");
  return faulty;
}

const RegisterFault registered{{
    .name = "silu-slope-of-sigmoid-lost",
    .stage = "backward",
    .right = "dx = dy (s + x s (1 - s))",
    .wrong = "dx = dy s",
    .condition = "silu",
    .knob = "value",
    .source = "source mutation",
    .laws = {"silu_spans_the_range", "any_order_of_additions"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::silu_slope_of_sigmoid_lost_fault
