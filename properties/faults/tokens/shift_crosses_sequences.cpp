// The last row of a sequence is scored by the first label of the next one in its micro-batch.
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/other_labels.hpp"

namespace tally::shift_crosses_sequences_fault {
namespace {

void loss(Run& run) {
  if (!shifts_labels(run.c.model.loss)) return stage::loss(run);
  Case one_sequence = run.c;
  one_sequence.sequences.clear();
  for (const auto& window : run.c.windows)
    one_sequence.sequences.insert(one_sequence.sequences.end(), window.begin(), window.end());
  loss_by(run, *ScoredTarget(one_sequence));
}

const RegisterFault registered{{
    .name = "shift-crosses-sequences",
    .stage = "loss",
    .right = "the last row of a sequence is scored by nothing",
    .wrong = "it is scored by the next sequence's first label",
    .condition = "several sequences in a micro-batch",
    .knob = "none",
    .source = "pytorch/torchtitan 4075, huggingface/trl 5854",
    .laws = {"the_shift_stays_inside", "token_counts_are_weighted"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::shift_crosses_sequences_fault
