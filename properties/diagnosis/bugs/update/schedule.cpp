// Bugs of the schedule: what it counts.
#include <cmath>
#include <numbers>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/restatement.hpp"
#include "properties/diagnosis/settings.hpp"

namespace tally::schedule_bug {
namespace {

using Ways = std::vector<Restated>;
using Count = std::function<std::int64_t(int window, std::int64_t taken)>;

Restated scheduled_by(Count count, const std::string& formula = "", const std::string& sentence = "") {
  Restated way;
  way.deviation.schedule_count = std::move(count);
  way.formula = formula;
  way.sentence = sentence;
  return way;
}

bool moves(const Case& c) { return c.recipe.learning_rate.kind != kinds::constant; }

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

const RegisterBug registered{{
    .name = "update-count-off-by-one",
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

const RegisterBug registered{{
    .name = "sched-per-microbatch",
    .stages = {"schedule"},
    .sentence = "the schedule steps once per micro-batch",
    .formula = "t + K a window",
    .remedy = "call `scheduler.step()` once per window, after `optimizer.step()`, not with every micro-batch",
    .left = left,
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!moves(c)) return {};
      const auto of = [&c](int window, int ahead) { return steps_before(c) + regrouped_window(c, window + ahead, 0); };
      return {
          scheduled_by([of](int w, std::int64_t) { return of(w, 0); }, "t + K a window, after the step"),
          scheduled_by([of](int w, std::int64_t) { return of(w, 1) - 1; }, "t + K a window, the last after the step"),
          scheduled_by([of](int w, std::int64_t) { return of(w, 1); }, "t + K a window, before the step")};
    },
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

const RegisterBug registered{{
    .name = "rate-advances-on-skip",
    .stages = {"schedule"},
    .sentence = "the schedule also counts windows that were skipped",
    .formula = "t + 1 in a skipped window",
    .remedy = "step the schedule only if the optimizer stepped: `scaler.get_scale()` falls if it did not",
    .left = left,
}};

}  // namespace schedule_counts_skips

// The schedule stands still.
const RegisterBug registered_stuck{{
    .name = "rate-never-moves",
    .sentence = "the schedule never steps: every optimizer step uses the first learning rate",
    .formula = "rate of t = 0",
    .remedy = "call `scheduler.step()` after every `optimizer.step()`",
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!moves(c)) return {};
      return {scheduled_by([&c](int, std::int64_t) { return steps_before(c); })};
    },
}};

// The stage counts its steps from another number.
namespace step_taken_as {

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

const RegisterBug registered{{
    .name = "step-taken-as",
    .stages = {"decay", "optimizer", "schedule"},
    .sentence = "the stage counts one step too many or too few",
    .formula = "t + 1, or t - 1",
    .remedy = "step the schedule once after each `optimizer.step()`",
    .hypotheses = ways,
    .restated = [](const Case& c, const Trace&) -> Ways {
      if (!moves(c)) return {};
      const std::string one = "the schedule counts one step ";
      return {scheduled_by([](int, std::int64_t t) { return t + 1; }, "rate of t + 1", one + "too many"),
              scheduled_by([](int, std::int64_t t) { return t > 0 ? t - 1 : 0; }, "rate of t - 1", one + "too few")};
    },
}};

}  // namespace step_taken_as

}  // namespace
}  // namespace tally::schedule_bug
