// Faults of the kernels of optimizers: Lion and RMSProp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// Lion interpolates with the factor of the momentum, and moves the momentum by that of the interpolation.
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

// Lion takes the sign of the momentum after its update, as momentum methods step, not of the interpolation.
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

// RMSProp divides by the root of the second moment that this gradient has not entered.
namespace tally::rmsprop_divides_before_the_square_fault {
namespace {

template <class M>
__global__ void step(RmspropArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *square = static_cast<M*>(a.square_avg),
    *buffer = static_cast<M*>(a.momentum_buffer);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i];
    float direction = __fdiv_rn(g, __fadd_rn(__fsqrt_rn(to_float(square[i])), a.eps));
    square[i] = from_float<M>(
        __fadd_rn(__fmul_rn(a.alpha, to_float(square[i])), __fmul_rn(a.one_minus_alpha, __fmul_rn(g, g))));
    if (buffer != nullptr) {
      buffer[i] = from_float<M>(__fadd_rn(__fmul_rn(a.mu, to_float(buffer[i])), direction));
      direction = to_float(buffer[i]);
    }
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, direction)));
  }
}

void wrong_step(Stream& stream, const RmspropArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, RmspropArguments(a)); });
}

void planted(Stream& stream, const RmspropArguments& a) {
  between_kernels(stream, a, {{a.parameter, a.format, a.elements}, {a.square_avg, a.format, a.elements}}, "rmsprop",
                  "grid_stride", wrong_step);
}

const RegisterKernel kernel("rmsprop", {.variant = "~rmsprop-divides-before-the-square"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("rmsprop", "rmsprop-divides-before-the-square");
  return faulty;
}

const RegisterFault registered{{
    .name = "rmsprop-divides-before-the-square",
    .stage = "optimizer",
    .right = "v moves, then g / (sqrt(v) + eps)",
    .wrong = "g / (sqrt(v) + eps), then v moves",
    .condition = "RMSProp",
    .knob = "value",
    .source = "source mutation",
    .laws = {"rmsprop_moves_against_its_gradient", "state_is_taken_over"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rmsprop_divides_before_the_square_fault

// RMSProp adds epsilon under the root, as TensorFlow does and PyTorch does not.
namespace tally::rmsprop_epsilon_in_the_root_fault {
namespace {

template <class M>
__global__ void step(RmspropArguments a) {
  M *parameter = static_cast<M*>(a.parameter), *square = static_cast<M*>(a.square_avg),
    *buffer = static_cast<M*>(a.momentum_buffer);
  for (std::int64_t i = first_element(); i < a.elements; i += element_stride()) {
    const float g = a.gradient[i];
    square[i] = from_float<M>(
        __fadd_rn(__fmul_rn(a.alpha, to_float(square[i])), __fmul_rn(a.one_minus_alpha, __fmul_rn(g, g))));
    float direction = __fdiv_rn(g, __fsqrt_rn(__fadd_rn(to_float(square[i]), a.eps)));
    if (buffer != nullptr) {
      buffer[i] = from_float<M>(__fadd_rn(__fmul_rn(a.mu, to_float(buffer[i])), direction));
      direction = to_float(buffer[i]);
    }
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(a.rate, direction)));
  }
}

void wrong_step(Stream& stream, const RmspropArguments& a) {
  by_storage(a.format, [&]<class M>(M) { launch_elements<step<M>>(stream, a.elements, RmspropArguments(a)); });
}

void planted(Stream& stream, const RmspropArguments& a) {
  between_kernels(stream, a, {{a.parameter, a.format, a.elements}, {a.square_avg, a.format, a.elements}}, "rmsprop",
                  "grid_stride", wrong_step);
}

const RegisterKernel kernel("rmsprop", {.variant = "~rmsprop-epsilon-in-the-root"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("rmsprop", "rmsprop-epsilon-in-the-root");
  return faulty;
}

const RegisterFault registered{{
    .name = "rmsprop-epsilon-in-the-root",
    .stage = "optimizer",
    .right = "g / (sqrt(v) + eps)",
    .wrong = "g / sqrt(v + eps)",
    .condition = "RMSProp",
    .knob = "value",
    .source = "pytorch-image-models rmsprop_tf.py",
    .laws = {"rmsprop_moves_against_its_gradient"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rmsprop_epsilon_in_the_root_fault
