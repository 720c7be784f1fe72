// Sequences of a micro-batch are one to attention: a row sees the rows of all that stand before it.
#include "properties/faults/attention/dropped_weights.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::packed_attention_crosses_fault {
namespace {

/// As if every micro-batch were one sequence.
void forward(Run& run) {
  if (!run.sequence_begin || run.recomputing || drops_weights(run)) return stage::forward(run);
  Tensor begin(Dtype::i64, run.sequence_begin.shape), end(Dtype::i64, run.sequence_end.shape);
  std::size_t row = 0;
  for (const auto& window : run.c.windows)
    for (const std::int64_t rows : window)
      for (std::int64_t i = 0; i < rows; ++i, ++row) end.set_bits(row, static_cast<std::uint64_t>(rows));
  run.sequence_begin = DeviceTensor(run.device, "sequence begins", begin);
  run.sequence_end = DeviceTensor(run.device, "sequence ends", end);
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "packed-attention-crosses",
    .stage = "forward",
    .right = "a row sees the rows of its own sequence",
    .wrong = "a row sees the rows of every sequence before it in the micro-batch",
    .condition = "several sequences in a micro-batch, no weight dropped",
    .knob = "none",
    .source = "huggingface/trl 3526, huggingface/nanoVLM 204",
    .laws = {"sequences_do_not_meet"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::packed_attention_crosses_fault
