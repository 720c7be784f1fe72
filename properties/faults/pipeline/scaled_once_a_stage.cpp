// The gradient that a stage of a pipeline takes over is divided by the micro-batches once more.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::scaled_once_a_stage_fault {
namespace {

void receive(Run& run) {
  stage::receive(run);
  DeviceTensor* const gradient = received_gradient(run);
  if (gradient == nullptr) return;
  const double by = micro_batches(run);
  change(run, *gradient, [&](std::size_t, double value) { return blend(value, value / by); });
  run.tap("receive", "d." + run.layers[run.part_end - 1].label + ".y", *gradient);
}

const RegisterFault registered{{
    .name = "scaled-once-a-stage",
    .stage = "receive",
    .right = "the loss is divided once",
    .wrong = "and its gradient again at every stage of a pipeline that it goes back to",
    .condition = "a pipeline, K > 1",
    .knob = "value",
    .source = "DeepSpeed PR 8154",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::receive, receive>,
}};

}  // namespace
}  // namespace tally::scaled_once_a_stage_fault
