// What faults of pipelines have in common: where a stage stands, and what it has received.
#pragma once

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/faults/planted_change.hpp"

namespace tally {

/// What a part behind the first reads of the one before: where it stands, and what taps call it.
inline DeviceTensor& received_input(Run& run) { return run.layers[run.part_begin - 1].y; }
inline std::string received_name(const Run& run) {
  const LayerState& first = run.layers[run.part_begin];
  return first.label + "." + input_word(*first.layer, first.inputs.size(), 0);
}
/// Whether forward has just received something.
inline bool has_received_input(const Run& run) { return !run.behind_forward && run.part > 0; }
/// The gradient that came back, where one has.
inline DeviceTensor* received_gradient(Run& run) {
  if (!run.behind_forward || run.part_end == run.layers.size()) return nullptr;
  LayerState& own = run.layers[run.part_end - 1];
  DeviceTensor& gradient = own.readers.size() > 1 ? own.dy : run.layers[run.part_end].dx;
  return gradient ? &gradient : nullptr;
}

}  // namespace tally
