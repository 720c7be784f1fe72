// Adam never counts its steps.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bias_correction_stuck_fault {
namespace {

void optimizer(Run& run) {
  const std::int64_t step = run.step;
  run.step = 0;
  stage::optimizer(run);
  run.step = step;
}

const RegisterFault registered{{
    .name = "bias-correction-stuck",
    .stage = "optimizer",
    .right = "1 - β^(t+1)",
    .wrong = "1 - β at every step",
    .condition = "Adam, the second step and later",
    .knob = "value",
    .source = "apex 1124, OLMo-core PR 317",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::optimizer, between_stages<stage::optimizer, optimizer>>,
}};

}  // namespace
}  // namespace tally::bias_correction_stuck_fault
