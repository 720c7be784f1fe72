// The second shard of a parameter is updated with the gradients of the first.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/planted_place.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::shard_offset_wrong_fault {
namespace {

void optimizer(Run& run) {
  Parameter& hit = drawn_parameter(run);
  const auto half = static_cast<std::size_t>(hit.elements) / 2;
  if (half == 0) return stage::optimizer(run);
  const Tensor right = hit.unscaled.read();
  // The stage taps what it reads: the shift must not be seen there, only in what it leaves.
  stage::optimizer(run);
  change(run, hit.master, [&](std::size_t i, double value) {
    const double rate = run.learning_rate;
    return i < half ? value : blend(value, value - rate * (right.value(i - half) - right.value(i)));
  });
  run.tap("optimizer", hit.name, hit.master);
}

const RegisterFault registered{{
    .name = "shard-offset-wrong",
    .stage = "optimizer",
    .right = "shard i with gradient i",
    .wrong = "shard 1 with gradient 0",
    .condition = "two elements or more; the parameter is drawn",
    .knob = "value",
    .source = "llm.c 7ba3ef6",
    .laws = {"decay_and_momentum_once", "exact_lane"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::shard_offset_wrong_fault
