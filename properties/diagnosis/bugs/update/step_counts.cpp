// Bugs of the optimizer's steps: how they are counted.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::step_counts_bug {
namespace {

using Ways = std::vector<Restated>;

Restated counted_by(std::function<std::int64_t(int window, std::int64_t taken)> count) {
  Restated way;
  way.deviation.optimizer_count = std::move(count);
  return way;
}

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

const RegisterBug registered{{
    .name = "bias-correction-stuck",
    .stages = {"optimizer"},
    .sentence = "the optimizer's step count never grows: the bias correction stays that of the first step",
    .formula = "t = t of the first window",
    .remedy = "count every step of the optimizer: keep its `state[\"step\"]` between steps",
    .left = left,
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!counts_steps(c.recipe.optimizer)) return {};
      return {counted_by([&c](int, std::int64_t) { return steps_before(c); })};
    },
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

const RegisterBug registered{{
    .name = "step-not-restored",
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

const RegisterBug registered{{
    .name = "state-advances-on-skip",
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

const RegisterBug registered{{
    .name = "optimizer-count-per-microbatch",
    .stages = {"optimizer"},
    .sentence = "the optimizer counts micro-batches as steps",
    .formula = "t = (t + 1) K - 1",
    .remedy = "count one step per window: advance the optimizer's step count only at `optimizer.step()`",
    .left = left,
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!counts_steps(c.recipe.optimizer)) return {};
      return {counted_by([&c](int w, std::int64_t) { return steps_before(c) + regrouped_window(c, w + 1, 0) - 1; })};
    },
}};

}  // namespace steps_count_micro_batches

/// What each window's optimizer said it had counted, where it was tapped in all.
std::vector<std::int64_t> counts_told(const Case& c, const Trace& trace) {
  std::vector<std::int64_t> told;
  for (int window = 0; window < static_cast<int>(c.windows.size()); ++window) {
    const Tensor* count = trace.find(TapView{window, -1, "optimizer", "in.step"});
    if (count != nullptr) told.push_back(count->integer(0));
  }
  return told.size() == c.windows.size() ? told : std::vector<std::int64_t>{};
}

bool stays_in_range(const std::vector<std::int64_t>& counts) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  return std::ranges::all_of(counts, [](std::int64_t count) { return count >= 0 && count < most; });
}

const RegisterBug registered_other_count{{
    .name = "optimizer-count-taken-as",
    .sentence = "the optimizer's step count differs from the number of steps taken",
    .formula = "t = what it was told",
    .remedy = "keep the step count with the optimizer's state, and count one step per window",
    .restated = [](const Case& c, const Trace& trace) -> Ways {
      const std::vector<std::int64_t> told = counts_told(c, trace);
      if (!counts_steps(c.recipe.optimizer) || told.empty() || !stays_in_range(told)) return {};
      Restated way = counted_by([told](int w, std::int64_t) { return told[static_cast<std::size_t>(w)]; });
      way.changed = 3;  // of the counts that say more, one stands first
      for (const std::int64_t count : told)
        way.formula += (way.formula.empty() ? "t = " : ", ") + std::to_string(count);
      return {way};
    },
}};

}  // namespace
}  // namespace tally::step_counts_bug
