// The gradient of a gate leaves out what the gate opens for: dg is dy times the slope.
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gated/gated_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

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
