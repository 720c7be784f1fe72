// Suspects of how optimizer and schedule count their steps.
#include <cmath>
#include <numbers>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/suspect.hpp"

// Suspects of optimizer and schedule: how steps are counted.
namespace tally::step_counts_suspect {
namespace {

// The schedule is told one step more than the run will take.
namespace schedule_one_longer {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& rate = evidence.c.recipe.learning_rate;
  if (held.name.tensor != "in.learning_rate" || rate.kind != kinds::warmup_cosine) return std::nullopt;
  const double base = rate.number("base").to_double(), floor = rate.number("floor").to_double();
  const double step = evidence.scalar(held.name.window, "schedule", "in.step", 0);
  const auto warmup = static_cast<double>(rate.integer("warmup")),
             total = static_cast<double>(rate.integer("total")) + 1;
  if (step < warmup || step >= total) return std::nullopt;
  const double done = (step - warmup) / (total - warmup);
  return Values{floor + (base - floor) * (1 + std::cos(std::numbers::pi * done)) / 2};
}

const RegisterSuspect registered{{
    .name = "update-count-off-by-one",
    .faults = {"update-count-off-by-one"},
    .stages = {"optimizer"},
    .sentence = "the schedule's total is one step more than the run takes",
    .formula = "rate of (t - warmup) / (total + 1 - warmup)",
    .remedy = "give the schedule the number of steps that the run takes: micro-batches / {K}, rounded as the loop does",
    .left = left,
}};

}  // namespace schedule_one_longer

// The schedule moves once for every micro-batch.
namespace schedule_counts_micro_batches {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "step" || evidence.scalar(held.name.window, "schedule", "in.found", 0) != 0)
    return std::nullopt;
  return Values{evidence.scalar(held.name.window, "schedule", "in.step", 0) + evidence.micro_batches(held.name.window)};
}

const RegisterSuspect registered{{
    .name = "sched-per-microbatch",
    .faults = {"sched-per-microbatch"},
    .stages = {"schedule"},
    .sentence = "the schedule steps once per micro-batch",
    .formula = "t + K a window",
    .remedy = "call `scheduler.step()` once per window, after `optimizer.step()`, not with every micro-batch",
    .left = left,
}};

}  // namespace schedule_counts_micro_batches

// The schedule moves in a window that took no step.
namespace schedule_counts_skips {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "step") return std::nullopt;
  double skipped = 0;
  for (int w = 0; w <= held.name.window; ++w) skipped += evidence.scalar(w, "schedule", "in.found", 0);
  return Values{held.expected.front() + skipped};
}

const RegisterSuspect registered{{
    .name = "rate-advances-on-skip",
    .faults = {"rate-advances-on-skip"},
    .stages = {"schedule"},
    .sentence = "the schedule also counts windows that were skipped",
    .formula = "t + 1 in a skipped window",
    .remedy = "step the schedule only if the optimizer stepped: `scaler.get_scale()` falls if it did not",
    .left = left,
}};

}  // namespace schedule_counts_skips

// The optimizer never counts its steps.
namespace step_count_stuck {

/// At every window what the first one must read.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.step" || held.name.window == 0) return std::nullopt;
  for (const HeldTensor& first : evidence.held) {
    if (first.name.window == 0 && first.name.tensor == "in.step") return first.expected;
  }
  return std::nullopt;
}

const RegisterSuspect registered{{
    .name = "bias-correction-stuck",
    .faults = {"bias-correction-stuck"},
    .stages = {"optimizer"},
    .sentence = "the optimizer's step count never grows: the bias correction stays that of the first step",
    .formula = "t = t of the first window",
    .remedy = "count every step of the optimizer: keep its `state[\"step\"]` between steps",
    .left = left,
}};

}  // namespace step_count_stuck

// A run that goes on counts its steps from zero.
namespace step_not_restored {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.step") return std::nullopt;
  double earlier = 0;
  for (const HeldTensor& each : evidence.held) {
    if (each.name.window == 0 && each.name.tensor == "in.step") earlier = each.expected.front();
  }
  return earlier == 0 ? std::nullopt : std::optional(Values{held.expected.front() - earlier});
}

const RegisterSuspect registered{{
    .name = "step-not-restored",
    .faults = {"step-not-restored"},
    .stages = {"optimizer"},
    .sentence = "a run resumed from a checkpoint counts its steps from zero",
    .formula = "t = t - t of the checkpoint",
    .remedy = "save and load `optimizer.state_dict()` with the checkpoint",
    .left = left,
}};

}  // namespace step_not_restored

// The optimizer runs in a window that overflowed, on a gradient that is not finite.
namespace stepped_on_overflow {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty() || evidence.scalar(held.name.window, "overflow_check", "found", 0) == 0) return std::nullopt;
  auto p = evidence.tap(held.name.window, -1, "optimizer", "in." + parameter);
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!p || !gradient) return std::nullopt;
  const double rate = evidence.scalar(held.name.window, "optimizer", "in.learning_rate", 0);
  for (std::size_t i = 0; i < p->size(); ++i) (*p)[i] -= rate * (*gradient)[i];
  return p;
}

const RegisterSuspect registered{{
    .name = "state-advances-on-skip",
    .faults = {"state-advances-on-skip"},
    .stages = {"optimizer"},
    .sentence = "the optimizer steps in a window that overflowed, with a non-finite gradient",
    .formula = "p = p - lr g, where nothing should move",
    .remedy = "skip the whole step where the gradient is not finite: `scaler.step(optimizer)`, not `optimizer.step()`",
    .left = left,
}};

}  // namespace stepped_on_overflow

// The optimizer counts micro-batches as steps.
namespace steps_count_micro_batches {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.step") return std::nullopt;
  return Values{(held.expected.front() + 1) * evidence.micro_batches(held.name.window) - 1};
}

const RegisterSuspect registered{{
    .name = "optimizer-count-per-microbatch",
    .faults = {"optimizer-count-per-microbatch"},
    .stages = {"optimizer"},
    .sentence = "the optimizer counts micro-batches as steps",
    .formula = "t = (t + 1) K - 1",
    .remedy = "count one step per window: advance the optimizer's step count only at `optimizer.step()`",
    .left = left,
}};

}  // namespace steps_count_micro_batches
}  // namespace
}  // namespace tally::step_counts_suspect

// The stage counts its steps from another number.
namespace tally::step_taken_as_suspect {
namespace {

std::int64_t steps_before(const Case& c) {
  const auto found = c.tensors.find("step");
  return found == c.tensors.end() ? 0 : found->second.integer(0);
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  for (const auto& [by, word] :
       {std::pair{1, "one step more"}, std::pair{2, "two steps more"}, std::pair{-1, "one step less"}}) {
    Case c = evidence.c;
    Tensor step(Dtype::i64, {});
    step.set_bits(0, static_cast<std::uint64_t>(steps_before(c) + by));
    c.tensors["step"] = step;
    const std::string sentence = "as if " + std::string(word) + " had been taken";
    all.push_back({what_if(evidence, c, evidence.trace), sentence, "t, " + std::string(word), 0});
  }
  return all;
}

const RegisterSuspect registered{{
    .name = "step-taken-as",
    .faults = {},
    .stages = {"decay", "optimizer", "schedule"},
    .sentence = "the stage counts one step too many or too few",
    .formula = "t + 1, or t - 1",
    .remedy = "step the schedule once after each `optimizer.step()`",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::step_taken_as_suspect
