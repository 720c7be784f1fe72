// Faults of the loss: factors and scales at the wrong place, or none.
#include <limits>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out there, and its taps with it: nothing of it is in the trace.
namespace tally::loss_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.micro_batch > 0;
  if (!left_out) stage::loss(run);
}

const RegisterFault registered{{
    .name = "loss-not-run",
    .bug = "stage-not-run",
    .stage = "loss",
    .right = "dy_k",
    .wrong = "the last micro-batch's, no tap",
    .condition = "K > 1",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::loss, sometimes>,
}};

}  // namespace
}  // namespace tally::loss_not_run_fault

// Two parts of a framework both compensate for accumulation.
namespace tally::extra_times_k_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  run.factor *= static_cast<float>(micro_batches(run));
}

const RegisterFault registered{{
    .name = "extra-times-k",
    .right = "c = S / N",
    .condition = "K > 1",
    .knob = "value",
    .source = "transformers PR 34198, axolotl 2262",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::extra_times_k_fault

// The window's one weight depends on the items of the micro-batch that is computed.
namespace tally::per_microbatch_weight_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.window_items == 0) return;
  run.factor *= static_cast<float>(run.items(run.micro_batch) * micro_batches(run) / run.window_items);
}

const RegisterFault registered{{
    .name = "per-microbatch-weight",
    .right = "c = S / N",
    .condition = "unequal n_k",
    .knob = "value",
    .source = "open_clip PR 1212",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::per_microbatch_weight_fault

// The division by K comes after the backward pass: the loss that is reported is right, the gradient is not.
namespace tally::scale_after_backward_fault {
namespace {

void loss(Run& run) {
  stage::loss(run);
  const int k = run.micro_batch, times = micro_batches(run);
  const std::int64_t rows = run.rows(k), features = run.dy.shape[1];
  void* dy = run.dy.row(run.first_row_alive(k));
  change(run, dy, run.dy.dtype, rows * features,
         [times](std::size_t, double value) { return blend(value, times * value); });
  run.tap("loss", "d.y", dy, run.dy.dtype, {rows, features});
}

const RegisterFault registered{{
    .name = "scale-after-backward",
    .right = "dy = c ∂l/∂y",
    .condition = "K > 1",
    .knob = "value",
    .source = "verl PR 436, Lightning 87",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::scale_after_backward_fault

// The scaler is updated after every micro-batch, so that a window's gradients carry different scales.
namespace tally::scale_changes_mid_window_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  const Choice& scale = run.c.recipe.loss_scale;
  if (scale.kind != "dynamic") return;
  const std::int64_t clean = run.growth_counter.scalar<std::int64_t>() + run.micro_batch;
  if (clean >= scale.integer("growth_interval")) {
    run.factor *= static_cast<float>(scale.number("growth_factor").to_double());
  }
}

const RegisterFault registered{{
    .name = "scale-changes-mid-window",
    .right = "c = S / N",
    .condition = "growth inside a window",
    .knob = "value",
    .source = "pytorch PR 36601, apex 777",
    .laws = {"scaler_counts_windows"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::scale_changes_mid_window_fault

// The loss is not scaled, but the gradient is unscaled.
namespace tally::scale_not_applied_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  run.factor /= run.window_scale;
}

const RegisterFault registered{{
    .name = "scale-not-applied",
    .right = "c = S / N, unscaled by S",
    .condition = "a loss scale other than 1",
    .knob = "value",
    .source = "Megatron-LM 0b14cc27",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::scale_not_applied_fault

// The mean over no items poisons the window.
namespace tally::zero_valid_items_nan_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.items(run.micro_batch) == 0) run.factor = std::numeric_limits<float>::quiet_NaN();
}

const RegisterFault registered{{
    .name = "zero-valid-items-nan",
    .right = "c = S / N, also where n_k = 0",
    .condition = "a micro-batch with n_k = 0",
    .knob = "none",
    .source = "nanochat PR 623, pytorch 70348",
    .laws = {"unequal_items_are_weighted", "empty_window_takes_its_step"},
    .stages = replaced<&Stages::factor, factor>,
}};

}  // namespace
}  // namespace tally::zero_valid_items_nan_fault
