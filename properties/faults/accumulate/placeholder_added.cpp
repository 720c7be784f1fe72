// A micro-batch without items gets a placeholder for its gradient, which is added with whatever it holds.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::placeholder_added_fault {
namespace {

void accumulate(Run& run) {
  stage::accumulate(run);
  if (run.items(run.micro_batch) != 0) return;
  for (Parameter& parameter : run.parameters) {
    change(run, parameter.buffer,
           [](std::size_t i, double value) { return blend(value, value + (i % 2 == 0 ? 1 : -1)); });
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

const RegisterFault registered{{
    .name = "placeholder-added",
    .stage = "accumulate",
    .right = "A += 0",
    .wrong = "A += the memory of the placeholder",
    .condition = "a micro-batch with n_k = 0",
    .knob = "value",
    .source = "Megatron-LM a96650b9b2, d262dbed3d",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::placeholder_added_fault
