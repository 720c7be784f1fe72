// Faults of a pipeline: what its stages send, receive and keep.
#include <map>

#include "properties/faults/pipeline/pipeline.hpp"
#include "properties/faults/seeded.hpp"

// A stage sends the output of its last micro-batch a second time, and nobody takes it.
namespace tally::activations_sent_again_fault {
namespace {

void send(Run& run) {
  stage::send(run);
  const bool is_last = run.micro_batch + 1 == micro_batches(run);
  if (run.pipelined() && !run.behind_forward && is_last && magnitude() > 0) stage::send(run);
}

const RegisterFault registered{{
    .name = "activations-sent-again",
    .stage = "send",
    .right = "each activation is sent once",
    .wrong = "those of a window's last micro-batch are sent twice",
    .condition = "a pipeline",
    .knob = "none",
    .source = "source mutation",
    .laws = {"stages_send_each_once"},
    .stages = replaced<&Stages::send, send>,
}};

}  // namespace
}  // namespace tally::activations_sent_again_fault

// A stage of a pipeline that has several chunks gives one what came for another.
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

// A stage of a pipeline keeps the buffer of a message beyond the end of its micro-batch.
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

// What a stage of a pipeline receives lands in the buffer of an earlier micro-batch that has still to go back.
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

// A stage of a pipeline sends back the last reader's gradient alone, for an input of its part that several layers read.
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
