// Gates by GELU with erf where its approximation by tanh is asked for.
#include "kernels/gated/gated_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally::gate_by_the_other_gelu_fault {
namespace {

void by_erf(Stream& stream, GatedArguments arguments, Kernel<GatedArguments> by_tanh) {
  const auto other = kernel<GatedArguments>("gated_gelu.forward", stream.device().kind(), "fused");
  between(
      stream, {{arguments.y, arguments.storage, arguments.elements}}, [&] { by_tanh(stream, arguments); },
      [&] { other(stream, arguments); });
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<by_erf>("gated_gelu_tanh.forward", "fused", "gate-by-the-other-gelu");
  return faulty;
}

const RegisterFault registered{{
    .name = "gate-by-the-other-gelu",
    .stage = "forward",
    .right = "y = gelu_tanh(gate) up",
    .wrong = "y = gelu(gate) up",
    .condition = "gelu_tanh",
    .knob = "value",
    .source = "NVIDIA-NeMo/Megatron-Bridge 4661, mlc-ai/mlc-llm 2106",
    .laws = {"a_closed_gate_passes_nothing"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gate_by_the_other_gelu_fault
