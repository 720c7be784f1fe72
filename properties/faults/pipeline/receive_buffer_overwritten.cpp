// What a stage of a pipeline receives lands in the buffer of an earlier micro-batch that has still to go back.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::receive_buffer_overwritten_fault {
namespace {

void receive(Run& run) {
  stage::receive(run);
  if (!has_received_input(run)) return;
  const Tensor now = received_input(run).read();
  for (auto& [of, kept] : run.kept) {
    if (of.first != run.part || kept.received.shape != now.shape) continue;
    change(run, kept.received, [&](std::size_t i, double value) { return blend(value, now.value(i)); });
  }
}

const RegisterFault registered{{
    .name = "receive-buffer-overwritten",
    .stage = "backward",
    .right = "every micro-batch that has still to go back has a receive buffer of its own",
    .wrong = "the next one that comes overwrites it",
    .condition = "a pipeline, two micro-batches of as many rows alive at once behind the first stage",
    .knob = "value",
    .source = "DeepSpeed issue 2800, vllm issue 54962",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::receive, receive>,
}};

}  // namespace
}  // namespace tally::receive_buffer_overwritten_fault
