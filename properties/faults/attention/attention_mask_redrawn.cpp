// With recomputation, backward drops other weights of attention than forward did.
#include <utility>
#include <vector>

#include "properties/faults/attention/dropped_weights.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::attention_mask_redrawn_fault {
namespace {

/// Its elements in reverse, as many of them as the magnitude says.
Tensor redrawn(const Tensor& mask) {
  Tensor other = mask;
  for (std::size_t i = 0; i < mask.elements(); ++i)
    if (hits(i)) other.bytes[i] = mask.bytes[mask.elements() - 1 - i];
  return other;
}

void backward(Run& run) {
  if (!run.c.execution.recompute) return stage::backward(run);
  std::vector<DeviceTensor> kept;
  for (LayerState& layer : run.layers)
    if (drops_weights(layer))
      kept.push_back(std::exchange(layer.mask, DeviceTensor(run.device, "another mask", redrawn(layer.mask.read()))));
  stage::backward(run);
  run.stream.synchronize();
  std::size_t next = 0;
  for (LayerState& layer : run.layers)
    if (drops_weights(layer)) layer.mask = std::move(kept[next++]);
}

const RegisterFault registered{{
    .name = "attention-mask-redrawn",
    .stage = "backward",
    .right = "the mask belongs to the sequence, the head, the query and the key",
    .wrong = "another mask in backward and in the forward pass that it runs again",
    .condition = "attention with p > 0, recomputation",
    .knob = "elements",
    .source = "allenai/OLMo-core 828, pytorch/pytorch 190717, openai/guided-diffusion 167",
    .laws = {"recomputation_changes_nothing"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::attention_mask_redrawn_fault
