// Weight decay acts once for every micro-batch.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::decay_per_microbatch_fault {
namespace {

void decay(Run& run) {
  for (int k = 0; k < micro_batches(run); ++k) stage::decay(run);
}

const RegisterFault registered{{
    .name = "decay-per-microbatch",
    .stage = "decay",
    .right = "decay once a window",
    .wrong = "decay K times",
    .condition = "K > 1 and decay",
    .knob = "value",
    .source = "keras 19990",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::decay_per_microbatch_fault
