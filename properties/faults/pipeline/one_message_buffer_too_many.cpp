// A stage of a pipeline keeps the buffer of a message beyond the end of its micro-batch.
#include <map>

#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::one_message_buffer_too_many_fault {
namespace {

DeviceTensor& kept_by(const Run& run) {
  static thread_local std::map<int, DeviceTensor> kept;
  return kept[run.pipe_rank];
}

void receive(Run& run) {
  stage::receive(run);
  if (has_received_input(run))
    kept_by(run) = DeviceTensor(run.device, "received once more", received_input(run).read());
}

void end_window(Run& run) {
  kept_by(run) = {};
  stage::end_window(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.receive = receive;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "one-message-buffer-too-many",
    .stage = "receive",
    .right = "as many receive buffers as micro-batches that have still to go back",
    .wrong = "one more",
    .condition = "a pipeline",
    .knob = "none",
    .source = "DeepSpeed issue 2800",
    .laws = {"stages_hold_few_activations"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::one_message_buffer_too_many_fault
