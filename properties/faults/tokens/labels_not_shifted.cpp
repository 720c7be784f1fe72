// Every row is scored by its own label, which its token has told already.
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/other_labels.hpp"

namespace tally::labels_not_shifted_fault {
namespace {

void loss(Run& run) {
  if (!shifts_labels(run.c.model.loss)) return stage::loss(run);
  loss_by(run, run.c.tensors.at("target"));
}

const RegisterFault registered{{
    .name = "labels-not-shifted",
    .stage = "loss",
    .right = "row i by label i + 1",
    .wrong = "row i by label i",
    .condition = "labels are shifted",
    .knob = "none",
    .source = "source mutation",
    .laws = {"token_counts_are_weighted", "the_shift_stays_inside"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::labels_not_shifted_fault
