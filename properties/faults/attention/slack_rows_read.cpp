// Attention's backward pass reads the rows behind a sequence, up to where its line ends: padding is seen.
#include "oracle/case/sequences.hpp"
#include "properties/faults/attention/dropped_weights.hpp"
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/rows_of_padding.hpp"

namespace tally::slack_rows_read_fault {
namespace {

Tensor ends_of_lines(const Case& c) {
  const SequenceRows sequences = sequence_rows(c);
  const std::vector<std::int64_t> padding = padding_up_to(c);
  Tensor ends(Dtype::i64, {static_cast<std::int64_t>(padding.size())});
  std::size_t row = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t size : window) {
      const std::size_t first = row;
      for (std::int64_t i = 0; i < size; ++i, ++row) {
        std::int64_t end = sequences.end[row];
        while (padding[row] == 0 && end < size && padding[first + static_cast<std::size_t>(end)] > 0) ++end;
        ends.set_bits(row, static_cast<std::uint64_t>(end));
      }
    }
  }
  return ends;
}

void backward(Run& run) {
  if (!run.sequence_end || drops_weights(run)) return stage::backward(run);
  DeviceTensor wrong(run.device, "ends of lines", ends_of_lines(run.c));
  std::swap(run.sequence_end, wrong);
  stage::backward(run);
  std::swap(run.sequence_end, wrong);
}

const RegisterFault registered{{
    .name = "slack-rows-read",
    .stage = "backward",
    .right = "a row's gradient adds over the rows of its sequence",
    .wrong = "it adds over the rows of its line, padding among them",
    .condition = "padding on the right, and attention that is not causal and drops no weight",
    .knob = "none",
    .source = "fla-org/flash-linear-attention 892",
    .laws = {"padding_leaves_nothing"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::slack_rows_read_fault
