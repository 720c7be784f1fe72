// Clipping by value: every element clamped to +-max_value, (clip_value.1), NaN stays. Exact.
//
//   gradient [elements] fp32, in place
//
// One thread an element, grid-stride.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::clip_by_value_kernel {
namespace {

__global__ void clamp(float* gradient, std::int64_t elements, float max_value) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    if (gradient[i] > max_value) gradient[i] = max_value;
    if (gradient[i] < -max_value) gradient[i] = -max_value;
  }
}

void clip_by_value(Stream& stream, const ClipByValueArguments& a) {
  launch_elements<clamp>(stream, a.elements, a.gradient, a.elements, a.max_value);
}

const RegisterKernel registered("clip_by_value", {.variant = "grid_stride"}, clip_by_value);

}  // namespace
}  // namespace tally::clip_by_value_kernel
