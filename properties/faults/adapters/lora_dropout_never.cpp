// An adapter has a dropout that is never applied: what is dropped goes into the product.
#include "properties/faults/adapters/adapter_dropout.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::lora_dropout_never_fault {
namespace {

void kept(Run& run, LayerState& layer, int k) {
  without_dropout(run, layer, k, run.x_of(layer, k), run.y_of(layer, k), layer_steps("dropout").forward);
}

void forward(Run& run) {
  static const LayerSteps steps{kept, layer_steps("dropout").backward};
  with_adapter_dropout(run, steps, stage::forward);
}

const RegisterFault registered{{
    .name = "lora-dropout-never",
    .stage = "forward",
    .right = "a = (x m f) A",
    .wrong = "a = x A",
    .condition = "dropout on an adapter's input",
    .knob = "value",
    .source = "meta-pytorch/torchtune 996",
    .laws = {"a_zero_b_is_the_base_model", "frozen_keeps_its_bits"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::lora_dropout_never_fault
