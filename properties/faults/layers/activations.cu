// Faults of the kernels of element-wise layers: dropout, SiLU and gates.
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The forward pass drops other elements than the sample's mask says.
namespace tally::dropout_mask_redrawn_fault {
namespace {

template <class S>
__global__ void drop_elsewhere(const S* x, const std::uint8_t* mask, S* out, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(mask[elements - 1 - i] != 0 ? __fmul_rn(to_float(x[i]), factor) : 0.0f);
  }
}

void dropout(Stream& stream, const DropoutArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<drop_elsewhere<S>>(stream, a.elements, static_cast<const S*>(a.x), a.mask, static_cast<S*>(a.out),
                                       a.elements, a.factor);
  });
}

void planted(Stream& stream, const DropoutArguments& a) {
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "dropout.forward", "grid_stride", dropout,
                  Mix::elements);
}

const RegisterKernel kernel("dropout.forward", {.variant = "~dropout-mask-redrawn"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("dropout.forward", "dropout-mask-redrawn");
  return faulty;
}

const RegisterFault registered{{
    .name = "dropout-mask-redrawn",
    .right = "y = x / (1 - p) or 0, by the sample's mask",
    .condition = "dropout",
    .knob = "elements",
    .source = "alpa 592, GC-DPR 12",
    .laws = {"exact_lane", "any_order_of_additions"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::dropout_mask_redrawn_fault

// SiLU by the exponential of x: infinity over infinity far above 0.
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

// SiLU's slope without the term that the logistic function's own slope gives.
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

// The gradient of a gate leaves out what the gate opens for: dg is dy times the slope.
namespace tally::gate_gradient_without_up_fault {
namespace {

template <class S>
__global__ void by_the_slope_alone(const S* gate, const S* dy, S* dgate, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float g = to_float(gate[i]), s = __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-g)));
    const float slope = __fmul_rn(s, __fadd_rn(1.0f, __fmul_rn(g, __fsub_rn(1.0f, s))));
    dgate[i] = from_float<S>(__fmul_rn(to_float(dy[i]), slope));
  }
}

/// The other gradient is the shipped kernel's.
void without_up(Stream& stream, const GatedArguments& a) {
  tally::kernel<GatedArguments>("gated_silu.backward", stream.device().kind(), "fused")(stream, a);
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<by_the_slope_alone<S>>(stream, a.elements, static_cast<const S*>(a.gate),
                                           static_cast<const S*>(a.dy), static_cast<S*>(a.dgate), a.elements);
  });
}

void planted(Stream& stream, const GatedArguments& a) {
  between_kernels(stream, a, {{a.dgate, a.storage, a.elements}, {a.dup, a.storage, a.elements}}, "gated_silu.backward",
                  "fused", without_up);
}

const RegisterKernel kernel("gated_silu.backward",
                            {.variant = "~gate-gradient-without-up", .algorithm = "fused", .function_ulp = detmath_ulp},
                            planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("gated_silu.backward", "gate-gradient-without-up");
  return faulty;
}

const RegisterFault registered{{
    .name = "gate-gradient-without-up",
    .stage = "backward",
    .right = "dg = dy up silu'(g)",
    .wrong = "dg = dy silu'(g)",
    .condition = "up is not 1",
    .knob = "value",
    .source = "source mutation",
    .laws = {"a_closed_gate_passes_nothing"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gate_gradient_without_up_fault
