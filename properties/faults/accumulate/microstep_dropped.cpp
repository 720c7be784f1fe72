// Only the first micro-batch reaches the buffer.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::microstep_dropped_fault {
namespace {

void accumulate(Run& run) {
  const int k = run.micro_batch;
  if (k == 0) return stage::accumulate(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("accumulate", "in.d." + parameter.name, run.gradient_of(&parameter, k), parameter.gradient.dtype,
            parameter.master.shape);
    run.tap("accumulate", "in.buffer." + parameter.name, parameter.buffer);
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

const RegisterFault registered{{
    .name = "microstep-dropped",
    .stage = "accumulate",
    .right = "A += s_k for every k",
    .wrong = "A += s_0 only",
    .condition = "K > 1",
    .knob = "value",
    .source = "DeepSpeed 7967",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, between_stages<stage::accumulate, accumulate>>,
}};

}  // namespace
}  // namespace tally::microstep_dropped_fault
