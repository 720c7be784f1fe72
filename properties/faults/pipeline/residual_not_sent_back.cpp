// A stage of a pipeline sends back the last reader's gradient alone, for an input of its part that several layers read.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::residual_not_sent_back_fault {
namespace {

void send(Run& run) {
  if (!run.pipelined() || !run.behind_forward || run.part == 0) return stage::send(run);
  const LayerState& before = run.layers[run.part_begin - 1];
  if (before.readers.size() > 1 && before.has_gradient) {
    const std::vector<std::int64_t> shape{run.rows(run.micro_batch), before.out};
    const Tensor given =
        read(run, run.given_by(before.readers.back(), run.micro_batch), run.c.precision.storage, shape);
    change(run, run.dy_of(before, run.micro_batch), run.c.precision.storage, shape[0] * shape[1],
           [&](std::size_t i, double value) { return blend(value, given.value(i)); });
  }
  stage::send(run);
}

const RegisterFault registered{{
    .name = "residual-not-sent-back",
    .stage = "send",
    .right = "the gradient of what came is the sum of what its readers gave",
    .wrong = "what the last reader gave",
    .condition = "a pipeline, a part whose input several layers read",
    .knob = "value",
    .source = "source mutation",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::send, send>,
}};

}  // namespace
}  // namespace tally::residual_not_sent_back_fault
