// What an adapter gives back to its input goes past its dropout: elements that were dropped have a gradient.
#include "properties/faults/adapters/adapter_dropout.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::lora_dropout_not_in_dx_fault {
namespace {

void handed_on(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  without_dropout(run, layer, k, run.dy_of(layer, k), run.dx_of(layer, k), layer_steps("dropout").backward);
}

void backward(Run& run) {
  static const LayerSteps steps{layer_steps("dropout").forward, handed_on};
  with_adapter_dropout(run, steps, stage::backward);
}

const RegisterFault registered{{
    .name = "lora-dropout-not-in-dx",
    .stage = "backward",
    .right = "dx = dy W + (da A) m f",
    .wrong = "dx = dy W + da A",
    .condition = "dropout on an adapter's input, and layers before it that train",
    .knob = "value",
    .source = "foundation-model-stack/fms-acceleration 97",
    .laws = {"a_zero_b_is_the_base_model", "frozen_keeps_its_bits"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::lora_dropout_not_in_dx_fault
