// Clipping by the global norm: coefficient = min(1, fl(max_norm / fl(norm + epsilon))), (global_norm.1), NaN stays NaN;
// then gradient = fl(gradient * coefficient), (global_norm.2).
//
//   norm, coefficient [] fp32   gradient [elements] fp32, in place
//
// One thread for the coefficient; one thread an element, grid-stride, for the gradient. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::clip_by_norm_kernel {
namespace {

__global__ void coefficient_of(const float* norm, float* coefficient, float max_norm, float epsilon) {
  const float divisor = __fadd_rn(*norm, epsilon);
  const float ratio = __fdiv_rn(max_norm, divisor);
  *coefficient = divisor == 0.0f || ratio > 1.0f ? 1.0f : ratio;
}

__global__ void scale(float* gradient, const float* coefficient, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    gradient[i] = __fmul_rn(gradient[i], *coefficient);
  }
}

void clip_coefficient(Stream& stream, const ClipCoefficientArguments& a) {
  launch<coefficient_of>(stream, {1, 1}, a.norm, a.coefficient, a.max_norm, a.epsilon);
}

void clip_by_norm(Stream& stream, const ClipByNormArguments& a) {
  launch_elements<scale>(stream, a.elements, a.gradient, a.coefficient, a.elements);
}

const RegisterKernel registered_coefficient("clip_coefficient", {.variant = "one_thread", .as_written = true},
                                            clip_coefficient);
const RegisterKernel registered_scaling("clip_by_norm", {.variant = "grid_stride"}, clip_by_norm);

}  // namespace
}  // namespace tally::clip_by_norm_kernel
