// Buffers are set up again whenever a micro-batch has another size than the one before.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::buffer_rebuilt_on_new_shape_fault {
namespace {

void accumulate(Run& run) {
  const int k = run.micro_batch;
  if (k > 0 && run.rows(k) != run.rows(k - 1)) {
    for (Parameter& parameter : run.parameters) fade(run, parameter.buffer);
  }
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "buffer-rebuilt-on-new-shape",
    .stage = "accumulate",
    .right = "A lives as long as the window",
    .wrong = "A = 0 at a change of size",
    .condition = "unequal sizes inside a window",
    .knob = "value",
    .source = "NeMo Automodel PR 3530",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::buffer_rebuilt_on_new_shape_fault
