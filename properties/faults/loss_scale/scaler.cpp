// Faults of the loss scale: how it moves, and how gradients are unscaled by it.
#include <map>
#include <utility>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::scaler_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "scaler-not-run",
    .bug = "stage-not-run",
    .stage = "scaler",
    .right = "scale and counter after the window",
    .wrong = "nothing, no tap",
    .condition = "dynamic loss scale",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"scaler_counts_windows"},
    .stages = replaced<&Stages::scaler, nothing>,
}};

}  // namespace
}  // namespace tally::scaler_not_run_fault

// The count of clean windows goes on through an overflow.
namespace tally::scaler_counter_kept_on_overflow_fault {
namespace {

void scaler(Run& run) {
  const auto clean = run.growth_counter.scalar<std::int64_t>();
  stage::scaler(run);
  if (!run.found) return;
  run.growth_counter.set_scalar(clean + 1);
  run.tap("scaler", "growth_counter", run.growth_counter);
}

const RegisterFault registered{{
    .name = "scaler-counter-kept-on-overflow",
    .right = "count = 0 in a skipped window",
    .condition = "an overflow, then growth",
    .knob = "none",
    .source = "pytorch PR 36601: the scaler's update",
    .laws = {"scaler_counts_windows"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::scaler_counter_kept_on_overflow_fault

// The scaler is updated once for every micro-batch.
namespace tally::scaler_counts_microbatches_fault {
namespace {

void scaler(Run& run) {
  for (int k = 0; k < micro_batches(run); ++k) stage::scaler(run);
}

const RegisterFault registered{{
    .name = "scaler-counts-microbatches",
    .right = "one update a window",
    .condition = "a dynamic scale, K > 1",
    .knob = "none",
    .source = "pytorch PR 36601",
    .laws = {"clip_once_after_unscale", "overflow_skips_the_window", "scaler_counts_windows"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::scaler_counts_microbatches_fault

// A run that goes on from a checkpoint starts its scaler anew.
namespace tally::scaler_state_not_restored_fault {
namespace {

void begin_window(Run& run) {
  if (run.window == 0) run.growth_counter.set_scalar<std::int64_t>(0);
  stage::begin_window(run);
}

const RegisterFault registered{{
    .name = "scaler-state-not-restored",
    .right = "count of the first window = that of the checkpoint",
    .condition = "a start in the middle of training",
    .knob = "none",
    .source = "transformers 34053, metaseq 3, torchtitan 146",
    .laws = {"resumes_bitwise"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::scaler_state_not_restored_fault

// The loss scaler's counter goes on as it should, and is recorded nowhere.
namespace tally::growth_counter_untapped_fault {
namespace {

void scaler(Run& run) {
  Trace before = std::exchange(run.trace, Trace{});
  stage::scaler(run);
  const Trace made = std::exchange(run.trace, std::move(before));
  for (const Tap& tap : made.taps()) {
    if (tap.name.tensor != "growth_counter") run.trace.add(tap.name, tap.value);
  }
}

const RegisterFault registered{{
    .name = "growth-counter-untapped",
    .stage = "scaler",
    .right = "every output is tapped",
    .wrong = "growth_counter is not",
    .condition = "dynamic loss scale",
    .knob = "none",
    .source = "source mutation: a tap removed",
    .laws = {"every_tap_is_there"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::growth_counter_untapped_fault

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::unscale_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "unscale-not-run",
    .bug = "stage-not-run",
    .stage = "unscale",
    .right = "g = A / S",
    .wrong = "nothing, no tap",
    .condition = "always",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale"},
    .stages = replaced<&Stages::unscale, nothing>,
}};

}  // namespace
}  // namespace tally::unscale_not_run_fault

// An explicit unscale for clipping, and a fused optimizer that unscales again.
namespace tally::double_unscale_fault {
namespace {

void unscale(Run& run) {
  stage::unscale(run);
  for (Parameter& parameter : run.parameters) {
    run.kernels.of<UnscaleArguments>("unscale")(run.stream,
                                                {Dtype::fp32, parameter.unscaled.data(), parameter.unscaled.as<float>(),
                                                 run.inverse_scale.as<float>(), parameter.elements});
    run.tap("unscale", "d." + parameter.name, parameter.unscaled);
  }
}

const RegisterFault registered{{
    .name = "double-unscale",
    .right = "g = A / S",
    .condition = "scale other than 1",
    .knob = "value",
    .source = "pytorch PR 94060",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale", "unscaled_by_the_windows_scale"},
    .stages = replaced<&Stages::unscale, between_stages<stage::unscale, unscale>>,
}};

}  // namespace
}  // namespace tally::double_unscale_fault

// The scaler is updated before the gradients are unscaled: a window that makes the scale grow divides by the new one.
namespace tally::unscaled_by_the_next_scale_fault {
namespace {

void unscale(Run& run) {
  const Choice& scale = run.c.recipe.loss_scale;
  const bool dynamic = scale.kind == "dynamic";
  const std::int64_t clean = dynamic ? run.growth_counter.scalar<std::int64_t>() + 1 : 0;
  if (dynamic && clean >= scale.integer("growth_interval")) {
    const double next = scale.number("growth_factor").to_double() * static_cast<double>(run.window_scale);
    run.inverse_scale.set_scalar(blend(run.inverse_scale.scalar<float>(), static_cast<float>(1 / next)));
  }
  stage::unscale(run);
}

const RegisterFault registered{{
    .name = "unscaled-by-the-next-scale",
    .right = "g = A / S of this window",
    .condition = "growth at this window",
    .knob = "value",
    .source = "apex 237, 777",
    .laws = {"unscaled_by_the_windows_scale", "scaler_counts_windows"},
    .stages = replaced<&Stages::unscale, unscale>,
}};

}  // namespace
}  // namespace tally::unscaled_by_the_next_scale_fault

// One parameter's gradient is copied to the optimizer before the last micro-batch has been added. A rank that keeps a
// piece leaves it as it is, where the piece is not all that the rank has added up.
namespace tally::master_gradient_copied_too_early_fault {
namespace {

Tensor& early(const Run& run) {
  static thread_local std::map<int, Tensor> by_rank;
  return by_rank[rank(run)];
}

void begin_window(Run& run) {
  early(run) = {};
  stage::begin_window(run);
}

void accumulate(Run& run) {
  if (run.micro_batch + 1 == micro_batches(run)) early(run) = drawn_parameter(run).buffer.read();
  stage::accumulate(run);
}

void unscale(Run& run) {
  stage::unscale(run);
  const Parameter& hit = drawn_parameter(run);
  const Tensor& copied = early(run);
  if (copied.elements() != hit.unscaled.read().elements()) return;
  const auto inverse = static_cast<double>(run.inverse_scale.scalar<float>());
  change(run, hit.unscaled, [&](std::size_t i, double value) { return blend(value, inverse * copied.value(i)); });
  run.tap("unscale", "d." + hit.name, hit.unscaled);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.accumulate = accumulate;
    copy.unscale = unscale;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "master-gradient-copied-too-early",
    .right = "g = A_K / S",
    .condition = "K > 1; the parameter is drawn",
    .knob = "value",
    .source = "Megatron-LM 9b55856615",
    .laws = {"partition_equals_full_batch", "exact_lane"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::master_gradient_copied_too_early_fault
