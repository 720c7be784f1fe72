// Lion interpolates with the factor of the momentum, and moves the momentum by that of the interpolation.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/lion_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::lion_factors_swapped_fault {
namespace {

template <class M>
__global__ void step(LionArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *exp_avg = static_cast<M*>(a.exp_avg);
  const auto between = [](float beta, float rest, float g, float m) {
    return __fadd_rn(__fmul_rn(beta, m), __fmul_rn(rest, g));
  };
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i], m = to_float(exp_avg[i]);
    const float c = between(a.beta2, a.one_minus_beta2, g, m);
    const float sign = c > 0.0f ? 1.0f : c < 0.0f ? -1.0f : c;
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, sign)));
    exp_avg[i] = from_float<M>(between(a.beta1, a.one_minus_beta1, g, m));
  }
}

void wrong_step(Stream& stream, const LionArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, LionArguments(a)); });
}

void planted(Stream& stream, const LionArguments& a) {
  between_kernels(stream, a, {{a.parameter, a.format, a.elements}, {a.exp_avg, a.format, a.elements}}, "lion",
                  "grid_stride", wrong_step);
}

const RegisterKernel kernel("lion", {.variant = "~lion-factors-swapped"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("lion", "lion-factors-swapped");
  return faulty;
}

const RegisterFault registered{{
    .name = "lion-factors-swapped",
    .stage = "optimizer",
    .right = "m by beta2, the sign by beta1",
    .wrong = "m by beta1, the sign by beta2",
    .condition = "Lion",
    .knob = "value",
    .source = "source mutation",
    .laws = {"lion_moves_by_the_rate"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lion_factors_swapped_fault
