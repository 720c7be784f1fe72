// A collator shifts the labels, and the loss shifts them again.
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/other_labels.hpp"

namespace tally::shifted_twice_fault {
namespace {

void loss(Run& run) {
  if (!shifts_labels(run.c.model.loss)) return stage::loss(run);
  Case shifted_once = run.c;
  shifted_once.tensors.at("target") = *ScoredTarget(run.c);
  loss_by(run, *ScoredTarget(shifted_once));
}

const RegisterFault registered{{
    .name = "shifted-twice",
    .stage = "loss",
    .right = "row i by label i + 1",
    .wrong = "row i by label i + 2",
    .condition = "labels are shifted",
    .knob = "none",
    .source = "source mutation",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::shifted_twice_fault
