// RMSProp adds epsilon under the root, as TensorFlow does and PyTorch does not.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/rmsprop_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

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
    .laws = {"rmsprop_moves_against_its_gradient", "state_is_taken_over"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rmsprop_epsilon_in_the_root_fault
