// Faults of the weights that a step leaves: their casts, formats and places.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out there, and its taps with it: nothing of it is in the trace.
namespace tally::cast_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.window > 0;
  if (!left_out) stage::cast(run);
}

const RegisterFault registered{{
    .name = "cast-not-run",
    .bug = "stage-not-run",
    .stage = "cast",
    .right = "w = cast(p) in every window",
    .wrong = "the first window's copy, no tap",
    .condition = "two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::cast, sometimes>,
}};

}  // namespace
}  // namespace tally::cast_not_run_fault

// The cached low-precision copy of the weights is never refreshed.
namespace tally::stale_weight_cast_fault {
namespace {

void cast(Run& run) {
  if (run.window == 0) return stage::cast(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("cast", "in." + parameter.name, parameter.master);
    run.tap("cast", parameter.name, parameter.copy);
  }
}

const RegisterFault registered{{
    .name = "stale-weight-cast",
    .right = "w = cast(p) in every window",
    .condition = "the second window and later",
    .knob = "value",
    .source = "Flow-Factory PR 186, pytorch PR 165068",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::cast, between_stages<stage::cast, cast>>,
}};

}  // namespace
}  // namespace tally::stale_weight_cast_fault

// The optimizer updates bf16 parameters: what is below half a unit of their last place is lost.
namespace tally::update_lost_in_bf16_fault {
namespace {

void optimizer(Run& run) {
  stage::optimizer(run);
  Tensor narrow(Dtype::bf16, {1});
  for (Parameter& each : run.parameters) {
    change(run, each.master, [&](std::size_t, double value) {
      narrow.set(0, value);
      return blend(value, narrow.value(0));
    });
    run.tap("optimizer", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "update-lost-in-bf16",
    .right = "p = fp32(p - lr v)",
    .condition = "any step",
    .knob = "value",
    .source = "ao PR 1124, tt-metal PR 15518",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::update_lost_in_bf16_fault

// The second shard of a parameter is updated with the gradients of the first.
namespace tally::shard_offset_wrong_fault {
namespace {

void optimizer(Run& run) {
  Parameter& hit = drawn_parameter(run);
  const auto half = static_cast<std::size_t>(hit.elements) / 2;
  if (half == 0) return stage::optimizer(run);
  const Tensor right = hit.unscaled.read();
  // The stage taps what it reads: the shift must not be seen there, only in what it leaves.
  stage::optimizer(run);
  change(run, hit.master, [&](std::size_t i, double value) {
    const double rate = run.learning_rate;
    return i < half ? value : blend(value, value - rate * (right.value(i - half) - right.value(i)));
  });
  run.tap("optimizer", hit.name, hit.master);
}

const RegisterFault registered{{
    .name = "shard-offset-wrong",
    .right = "p_i = p_i - lr g_i",
    .condition = "two elements or more; the parameter is drawn",
    .knob = "value",
    .source = "llm.c 7ba3ef6",
    .laws = {"decay_and_momentum_once", "exact_lane"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::shard_offset_wrong_fault
