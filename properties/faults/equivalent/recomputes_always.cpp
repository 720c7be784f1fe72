// Every forward pass runs again before backward: kernels repeat bit for bit, so the activations are the same.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::recomputes_always_fault {
namespace {

void backward(Run& run) {
  const std::uint64_t products = run.products;
  for (LayerState& layer : run.layers) layer.recomputed = true;
  run.recomputing = true;
  run.stages.forward(run);
  run.recomputing = false;
  run.products = products;
  stage::backward(run);
}

const RegisterEquivalent registered{{
    .name = "recomputes-always",
    .change = "every forward pass runs again before backward",
    .why = "kernels repeat bit for bit, so the activations are the same",
    .source = "pytorch 96136: only a second update of statistics would be wrong",
    .laws = {"recomputation_changes_nothing", "running_statistics_move_once", "partition_equals_full_batch"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::recomputes_always_fault
