// Every micro-batch writes its activations to new memory while the ones before stay until the window's end.
#include <utility>
#include <vector>

#include "properties/faults/seeded.hpp"

namespace tally::activations_kept_fault {
namespace {

/// Activations of this window's earlier micro-batches.
std::vector<DeviceTensor>& kept() {
  static thread_local std::vector<DeviceTensor> all;
  return all;
}

void forward(Run& run) {
  if (run.group_begin > 0 && !run.recomputing) {
    for (LayerState& layer : run.layers) {
      DeviceTensor fresh(run.device, layer.label + ".y", layer.y.dtype, layer.y.shape);
      kept().push_back(std::exchange(layer.y, std::move(fresh)));
    }
  }
  stage::forward(run);
}

/// A run before may have ended within its window.
void begin_window(Run& run) {
  kept().clear();
  stage::begin_window(run);
}

void end_window(Run& run) {
  kept().clear();
  stage::end_window(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.forward = forward;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "activations-kept",
    .stage = "forward",
    .right = "peak activations of one micro-batch",
    .wrong = "of all micro-batches of the window",
    .condition = "K > 1: the sum of the losses holds on to every micro-batch's graph",
    .knob = "none",
    .source = "PyTorch FAQ: don't accumulate history across your training loop",
    .laws = {"memory_follows_the_micro_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::activations_kept_fault
