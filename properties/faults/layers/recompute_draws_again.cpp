// The forward pass that recomputation repeats drops other elements than the first one did.
#include <algorithm>
#include <utility>
#include <vector>

#include "properties/faults/seeded.hpp"

namespace tally::recompute_draws_again_fault {
namespace {

void forward(Run& run) {
  std::vector<DeviceTensor> kept;
  for (LayerState& layer : run.layers) {
    if (!layer.mask || !run.recomputing) continue;
    const Tensor mask = layer.mask.read();
    Tensor other = mask;
    for (std::size_t i = 0; i < mask.elements(); ++i) {
      if (hits(i)) other.bytes[i] = mask.bytes[mask.elements() - 1 - i];
    }
    kept.push_back(std::exchange(layer.mask, DeviceTensor(run.device, "another mask", other)));
  }
  stage::forward(run);
  run.stream.synchronize();
  std::size_t next = 0;
  for (LayerState& layer : run.layers) {
    if (layer.mask && run.recomputing) layer.mask = std::move(kept[next++]);
  }
}

const RegisterFault registered{{
    .name = "recompute-draws-again",
    .stage = "backward",
    .right = "the mask belongs to the sample",
    .wrong = "another mask in the second forward pass",
    .condition = "dropout, recomputation",
    .knob = "elements",
    .source = "LLMs-from-scratch PR 519, mxnet 16705",
    .laws = {"recomputation_changes_nothing"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::recompute_draws_again_fault
