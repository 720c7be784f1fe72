// A checkpointed part whose input needs no gradient, as frozen layers stand before it, is taken for one that has none:
// its adapters' gradients are zero.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::checkpoint_drops_adapter_gradients_fault {
namespace {

void share(Run& run) {
  stage::share(run);
  if (!run.c.execution.recompute || run.frozen.empty()) return;
  for (Parameter& parameter : run.parameters) {
    if (parameter.into_buffer) continue;
    void* gradient = run.gradient_of(&parameter, run.micro_batch);
    const Dtype storage = run.c.precision.storage;
    change(run, gradient, storage, parameter.elements, [](std::size_t, double value) { return blend(value, 0.0); });
    run.tap("backward", "d." + parameter.name, gradient, storage, parameter.master.shape);
  }
}

const RegisterFault registered{{
    .name = "checkpoint-drops-adapter-gradients",
    .stage = "backward",
    .right = "the gradient of an adapter behind a frozen layer",
    .wrong = "zero",
    .condition = "a frozen layer, recomputation",
    .knob = "value",
    .source = "huggingface/transformers 21381, cloneofsimo/lora 26, locuslab/open-unlearning 178",
    .laws = {"recomputation_keeps_adapters_training"},
    .stages = replaced<&Stages::share, share>,
}};

}  // namespace
}  // namespace tally::checkpoint_drops_adapter_gradients_fault
