// Faults of accumulate: when the buffer is cleared.
#include <vector>

#include "kernels/training_step/ranks/rank_totals.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// One parameter takes a path on which every backward pass counts as a boundary: its buffer is cleared each time.
namespace tally::boundary_reset_one_tensor_fault {
namespace {

void accumulate(Run& run) {
  fade(run, drawn_parameter(run).buffer);
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "boundary-reset-one-tensor",
    .right = "A = A + s_k for every parameter",
    .condition = "K > 1; the parameter is drawn",
    .knob = "value",
    .source = "open-instruct PR 1498, DeepSpeed 7981",
    .laws = {"partition_equals_full_batch", "exact_lane", "optimizer_state_ignores_k"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::boundary_reset_one_tensor_fault

// Buffers are set up again whenever a micro-batch has another size than the one before.
namespace tally::buffer_rebuilt_on_new_shape_fault {
namespace {

void accumulate(Run& run) {
  const int k = run.micro_batch;
  if (k > 0 && run.rows(k) != run.rows(k - 1)) {
    for (Parameter& parameter : run.parameters) fade(run, parameter.buffer);
  }
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "buffer-rebuilt-on-new-shape",
    .right = "A lives as long as the window",
    .condition = "unequal sizes inside a window",
    .knob = "value",
    .source = "NeMo Automodel PR 3530",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::buffer_rebuilt_on_new_shape_fault

// The buffer is cleared before the first window only.
namespace tally::missing_zero_between_windows_fault {
namespace {

void begin_window(Run& run) {
  if (run.window == 0) return stage::begin_window(run);
  for (Parameter& parameter : run.parameters) {
    if (!run.options.accumulate || magnitude() == 1) break;
    change(run, parameter.buffer, [](std::size_t, double left) { return blend(0.0, left); });
  }
  run.found = false;
  run.found_flag.zero();
  run.window_scale = run.scale.scalar<float>();
  run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  stage::count(run);
}

const RegisterFault registered{{
    .name = "missing-zero-between-windows",
    .right = "A_0 = 0",
    .condition = "the second window and later",
    .knob = "value",
    .source = "DeepSpeed 7839",
    .laws = {"windows_do_not_leak"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::missing_zero_between_windows_fault

// A window that overflowed leaves its buffers as they are: the next one adds to infinity.
namespace tally::overflow_not_cleared_fault {
namespace {

void begin_window(Run& run) {
  std::vector<Tensor> kept;
  const bool skipped = run.window > 0 && run.found;
  if (skipped) {
    for (Parameter& parameter : run.parameters) kept.push_back(parameter.buffer.read());
  }
  stage::begin_window(run);
  std::size_t next = 0;
  for (Parameter& parameter : run.parameters) {
    if (!skipped) return;
    const Tensor& old = kept[next++];
    change(run, parameter.buffer, [&](std::size_t i, double) { return old.value(i); });
  }
}

const RegisterFault registered{{
    .name = "overflow-not-cleared",
    .right = "A_0 = 0 after a skipped window",
    .condition = "the window after an overflow",
    .knob = "none",
    .source = "espnet PR 3283",
    .laws = {"overflow_skips_the_window", "overflow_anywhere_is_found", "non_finite_stays_in_its_rows",
             "overflows_in_a_row"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::overflow_not_cleared_fault

// The buffer is never cleared; fresh memory is poisoned here, where a framework often finds zeros.
namespace tally::uninitialised_accumulator_fault {
namespace {

void begin_window(Run& run) {
  stage::begin_window(run);
  if (run.window != 0 || !run.options.accumulate) return;
  for (Parameter& parameter : run.parameters) parameter.buffer.poison();
}

const RegisterFault registered{{
    .name = "uninitialised-accumulator",
    .right = "A_0 = 0",
    .condition = "the first window",
    .knob = "none",
    .source = "llm.c 486f98e, torch nn 318",
    .laws = {"one_micro_batch_equals_plain", "repeats_bitwise", "every_output_is_written"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::uninitialised_accumulator_fault

// The buffer is cleared before every micro-batch.
namespace tally::zero_grad_inside_loop_fault {
namespace {

void accumulate(Run& run) {
  for (Parameter& parameter : run.parameters) fade(run, parameter.buffer);
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "zero-grad-inside-loop",
    .bug = "last-only",
    .right = "A += s_k",
    .condition = "K > 1",
    .knob = "value",
    .source = "torchtitan PR 3575, mmf PR 747",
    .laws = {"permuted_micro_batches", "partition_equals_full_batch", "optimizer_state_ignores_k"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::zero_grad_inside_loop_fault
