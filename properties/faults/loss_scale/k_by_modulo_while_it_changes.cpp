// The step is taken where the micro-batch's number is a multiple of the first K, although K changes.
#include "properties/faults/planted_window.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::k_by_modulo_while_it_changes_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const auto first = static_cast<int>(run.c.windows.front().size());
  return (micro_batches_before(run, k) + 1) % first == 0;
}

const RegisterFault registered{{
    .name = "k-by-modulo-while-it-changes",
    .stage = "unscale",
    .right = "i - last step >= K",
    .wrong = "i % K = 0",
    .condition = "windows of different K",
    .knob = "none",
    .source = "yolov5 PR 3722",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::k_by_modulo_while_it_changes_fault
