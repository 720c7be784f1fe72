// Adam counts micro-batches as steps.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::optimizer_count_per_microbatch_fault {
namespace {

void optimizer(Run& run) {
  const std::int64_t step = run.step;
  run.step = (step + 1) * micro_batches(run) - 1;
  stage::optimizer(run);
  run.step = step;
}

const RegisterFault registered{{
    .name = "optimizer-count-per-microbatch",
    .stage = "optimizer",
    .right = "t counts windows",
    .wrong = "t counts micro-batches",
    .condition = "Adam, K > 1",
    .knob = "value",
    .source = "keras 19990",
    .laws = {"decay_and_momentum_once", "bias_correction_counts_steps_taken"},
    .stages = replaced<&Stages::optimizer, between_stages<stage::optimizer, optimizer>>,
}};

}  // namespace
}  // namespace tally::optimizer_count_per_microbatch_fault
