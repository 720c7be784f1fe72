// Lion takes the sign of the momentum after its update, as momentum methods step, not of the interpolation.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/lion_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::lion_sign_of_the_new_momentum_fault {
namespace {

template <class M>
__global__ void step(LionArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *exp_avg = static_cast<M*>(a.exp_avg);
  const auto between = [](float beta, float rest, float g, float m) {
    return __fadd_rn(__fmul_rn(beta, m), __fmul_rn(rest, g));
  };
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i], m = to_float(exp_avg[i]);
    exp_avg[i] = from_float<M>(between(a.beta2, a.one_minus_beta2, g, m));
    const float c = to_float(exp_avg[i]);
    const float sign = c > 0.0f ? 1.0f : c < 0.0f ? -1.0f : c;
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, sign)));
  }
}

void wrong_step(Stream& stream, const LionArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, LionArguments(a)); });
}

void planted(Stream& stream, const LionArguments& a) {
  between_kernels(stream, a, {{a.parameter, a.format, a.elements}, {a.exp_avg, a.format, a.elements}}, "lion",
                  "grid_stride", wrong_step);
}

const RegisterKernel kernel("lion", {.variant = "~lion-sign-of-the-new-momentum"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("lion", "lion-sign-of-the-new-momentum");
  return faulty;
}

const RegisterFault registered{{
    .name = "lion-sign-of-the-new-momentum",
    .stage = "optimizer",
    .right = "sign(beta1 m + (1 - beta1) g)",
    .wrong = "sign(m) after its update",
    .condition = "Lion, from the second step on",
    .knob = "value",
    .source = "source mutation",
    .laws = {"lion_moves_by_the_rate", "state_is_taken_over"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lion_sign_of_the_new_momentum_fault
