// Faults of when a window steps.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The step is taken where i % K = 0: after the first micro-batch of every window, not after the last.
namespace tally::boundary_off_by_one_fault {
namespace {

bool steps_after(const Run&, int k) { return k == 0; }

const RegisterFault registered{{
    .name = "boundary-off-by-one",
    .right = "step where (i + 1) % K = 0",
    .condition = "K > 1",
    .knob = "none",
    .source = "LLMs-from-scratch 299, accelerate 435",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::boundary_off_by_one_fault

// At the end of the data every micro-batch of the last window forces a step.
namespace tally::forced_step_at_the_end_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const bool last = static_cast<std::size_t>(run.window) + 1 == run.c.windows.size();
  return last || k + 1 == micro_batches(run);
}

const RegisterFault registered{{
    .name = "forced-step-at-the-end",
    .right = "step after the last s_k of the last window",
    .condition = "the last window, K > 1",
    .knob = "none",
    .source = "accelerate 1847, 2831, Lightning 21808",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::forced_step_at_the_end_fault

// The step is taken where the micro-batch's number is a multiple of the first K, although K changes.
namespace tally::k_by_modulo_while_it_changes_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const auto first = static_cast<int>(run.c.windows.front().size());
  return (micro_batches_before(run, k) + 1) % first == 0;
}

const RegisterFault registered{{
    .name = "k-by-modulo-while-it-changes",
    .right = "step where i - last step = K",
    .condition = "windows of different K",
    .knob = "none",
    .source = "yolov5 PR 3722",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::k_by_modulo_while_it_changes_fault

// The flag that asks for communication after every micro-batch also makes the optimizer step.
namespace tally::step_at_every_microbatch_fault {
namespace {

bool steps_after(const Run&, int) { return true; }

const RegisterFault registered{{
    .name = "step-at-every-microbatch",
    .right = "step after the last s_k",
    .condition = "K > 1",
    .knob = "none",
    .source = "accelerate 2790",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::step_at_every_microbatch_fault

// A last window with fewer micro-batches than K never steps: its gradient is lost.
namespace tally::tail_window_dropped_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const bool whole = run.c.windows[static_cast<std::size_t>(run.window)].size() >= run.c.windows.front().size();
  return whole && k + 1 == micro_batches(run);
}

const RegisterFault registered{{
    .name = "tail-window-dropped",
    .stage = "optimizer",
    .right = "step on the remainder",
    .wrong = "no step",
    .condition = "a last window with r < K",
    .knob = "none",
    .source = "torchseq 8, Lightning 19684, pet PR 25",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::tail_window_dropped_fault
