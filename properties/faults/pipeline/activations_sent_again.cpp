// A stage sends the output of its last micro-batch a second time, and nobody takes it.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

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
