// One use of a tied weight adds its gradient to the buffer by itself and hands a placeholder on, whose memory was never
// written: the sum over the uses takes it up.
#include "oracle/case/graph.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::tied_placeholder_added_fault {
namespace {

void share(Run& run) {
  stage::share(run);
  const Dtype storage = run.c.precision.storage;
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    const Parameter& parameter = run.parameter(shared.name);
    void* sum = run.gradient_of(&parameter, run.micro_batch);
    change(run, sum, storage, parameter.elements,
           [](std::size_t i, double value) { return blend(value, value + (i % 2 == 0 ? 1 : -1)); });
    run.tap("fork", "d." + shared.name, sum, storage, parameter.master.shape);
  }
}

const RegisterFault registered{{
    .name = "tied-placeholder-added",
    .stage = "fork",
    .right = "dW = head's + embedding's",
    .wrong = "dW = head's + embedding's + the memory of a placeholder",
    .condition = "a tied weight",
    .knob = "value",
    .source = "NVIDIA/TransformerEngine 545",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share>,
}};

}  // namespace
}  // namespace tally::tied_placeholder_added_fault
