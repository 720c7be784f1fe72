// Gradients clipped, by their norm and by value, and weight decay.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

// Clipping by the global norm: coefficient = min(1, fl(max_norm / fl(norm + epsilon))), (global_norm.1), NaN stays NaN;
// then gradient = fl(gradient * coefficient), (global_norm.2).
//
//   norm, coefficient [] fp32   gradient [elements] fp32, in place
//
// One thread for the coefficient; one thread an element, grid-stride, for the gradient. No sums.
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

// Clipping by value: every element clamped to +-max_value, (clip_value.1), NaN stays. Exact.
//
//   gradient [elements] fp32, in place
//
// One thread an element, grid-stride.
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

// Weight decay. l2: gradient = fl(gradient + fl(lambda * parameter)), (l2.1). decoupled: parameter = fl(parameter *
// factor), (decoupled.1) with factor = fl(1 - lr lambda).
//
//   gradient [elements] fp32, parameter [elements] M; the one that changes in place
//
// One thread an element, grid-stride. No sums.
namespace tally::decay_kernel {
namespace {

template <class M>
__global__ void add_to_gradient(float* gradient, const M* parameter, std::int64_t elements, float lambda) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    gradient[i] = __fadd_rn(gradient[i], __fmul_rn(lambda, to_float(parameter[i])));
  }
}

template <class M>
__global__ void shrink(M* parameter, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    parameter[i] = from_float<M>(__fmul_rn(to_float(parameter[i]), factor));
  }
}

void l2(Stream& stream, const DecayArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<add_to_gradient<M>>(stream, a.elements, a.gradient, static_cast<const M*>(a.parameter), a.elements,
                                        a.lambda);
  });
}

void decoupled(Stream& stream, const DecayArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<shrink<M>>(stream, a.elements, static_cast<M*>(a.parameter), a.elements, a.factor);
  });
}

const RegisterKernel registered_l2("decay.l2", {.variant = "grid_stride", .as_written = true}, l2);
const RegisterKernel registered_decoupled("decay.decoupled", {.variant = "grid_stride", .as_written = true}, decoupled);

}  // namespace
}  // namespace tally::decay_kernel
