// The short last window divides by the K of the others.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::last_window_wrong_divisor_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  const auto configured = static_cast<float>(run.c.windows.front().size());
  run.factor *= static_cast<float>(micro_batches(run)) / configured;
}

const RegisterFault registered{{
    .name = "last-window-wrong-divisor",
    .stage = "loss",
    .right = "divide by the window's own r",
    .wrong = "divide by the configured K",
    .condition = "a last window with r < K micro-batches",
    .knob = "value",
    .source = "Lightning 19987, ms-swift PR 10084",
    .laws = {"short_tail_window"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::last_window_wrong_divisor_fault
