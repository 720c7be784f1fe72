// A stage of a pipeline that has several chunks gives one what came for another.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::chunks_swapped_fault {
namespace {

void receive(Run& run) {
  stage::receive(run);
  const std::size_t stages = stages_of(run.c);
  if (!has_received_input(run) || run.part < stages) return;
  const auto other = run.kept.find({run.part - stages, run.micro_batch});
  if (other == run.kept.end() || other->second.received.shape != received_input(run).shape) return;
  const Tensor theirs = other->second.received.read();
  change(run, received_input(run), [&](std::size_t i, double value) { return blend(value, theirs.value(i)); });
  run.tap("receive", received_name(run), received_input(run));
}

const RegisterFault registered{{
    .name = "chunks-swapped",
    .stage = "receive",
    .right = "a message goes to the part that it is for",
    .wrong = "to another part of the same stage",
    .condition = "a pipeline of several chunks, two of which read as many features",
    .knob = "value",
    .source = "Megatron-LM issue 1450",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::receive, receive>,
}};

}  // namespace
}  // namespace tally::chunks_swapped_fault
