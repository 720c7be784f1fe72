// One parameter misses one micro-batch of one window.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/planted_place.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::one_microbatch_of_one_tensor_dropped_fault {
namespace {

void accumulate(Run& run) {
  Parameter& hit = drawn_parameter(run);
  const auto count = static_cast<std::size_t>(micro_batches(run));
  const bool here = static_cast<std::size_t>(run.window) == drawn(run, "window", run.c.windows.size()) &&
                    static_cast<std::size_t>(run.micro_batch) == drawn(run, "micro_batch", count);
  if (!here) return stage::accumulate(run);
  const Tensor before = hit.buffer.read();
  stage::accumulate(run);
  change(run, hit.buffer, [&](std::size_t i, double value) { return blend(value, before.value(i)); });
  run.tap("accumulate", "buffer." + hit.name, hit.buffer);
}

const RegisterFault registered{{
    .name = "one-microbatch-of-one-tensor-dropped",
    .stage = "accumulate",
    .right = "A += s_k for every k",
    .wrong = "A skips one k of one parameter",
    .condition = "place drawn",
    .knob = "value",
    .source = "DeepSpeed 9d632f103: a path taken by one micro-batch",
    .laws = {"partition_equals_full_batch", "exact_lane"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::one_microbatch_of_one_tensor_dropped_fault
