// Restatements of when a step is taken, and of what the schedule and the optimizer count.
#include <algorithm>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/exact/exact.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::schedules_restatement {
namespace {

using Ways = std::vector<Restated>;

/// Micro-batches before a window, from the step that the case starts with on.
std::int64_t begun(const Case& c) {
  const auto step = c.tensors.find("step");
  return step == c.tensors.end() ? 0 : step->second.integer(0);
}

std::int64_t micro_batches_before(const Case& c, int window) { return regrouped_window(c, window, 0); }

using Count = std::function<std::int64_t(int window, std::int64_t taken)>;

Restated scheduled_by(Count count, const std::string& formula = "", const std::string& sentence = "") {
  Restated way;
  way.deviation.schedule_count = std::move(count);
  way.formula = formula;
  way.sentence = sentence;
  return way;
}

bool moves(const Case& c) { return c.recipe.learning_rate.kind != kinds::constant; }

const RegisterRestatement registered_per_micro_batch{{
    .name = "sched-per-microbatch",
    .sentence = "the schedule steps once per micro-batch",
    .formula = "t + K a window",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!moves(c)) return {};
      const auto of = [&c](int window, int ahead) { return begun(c) + micro_batches_before(c, window + ahead); };
      return {
          scheduled_by([of](int w, std::int64_t) { return of(w, 0); }, "t + K a window, after the step"),
          scheduled_by([of](int w, std::int64_t) { return of(w, 1) - 1; }, "t + K a window, the last after the step"),
          scheduled_by([of](int w, std::int64_t) { return of(w, 1); }, "t + K a window, before the step")};
    },
}};

const RegisterRestatement registered_stuck{{
    .name = "rate-never-moves",
    .sentence = "the schedule never steps: every optimizer step uses the first learning rate",
    .formula = "rate of t = 0",
    .remedy = "call `scheduler.step()` after every `optimizer.step()`",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!moves(c)) return {};
      return {scheduled_by([&c](int, std::int64_t) { return begun(c); })};
    },
}};

const RegisterRestatement registered_off_by_one{{
    .name = "step-taken-as",
    .sentence = "the schedule counts one step too many or too few",
    .formula = "t + 1, or t - 1",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!moves(c)) return {};
      const std::string one = "the schedule counts one step ";
      return {scheduled_by([](int, std::int64_t t) { return t + 1; }, "rate of t + 1", one + "too many"),
              scheduled_by([](int, std::int64_t t) { return t > 0 ? t - 1 : 0; }, "rate of t - 1", one + "too few")};
    },
}};

Restated counted_by(Count count) {
  Restated way;
  way.deviation.optimizer_count = std::move(count);
  return way;
}

const RegisterRestatement registered_stuck_correction{{
    .name = "bias-correction-stuck",
    .sentence = "the optimizer's step count never grows: the bias correction stays that of the first step",
    .formula = "t = t of the first window",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!counts_steps(c.recipe.optimizer)) return {};
      return {counted_by([&c](int, std::int64_t) { return begun(c); })};
    },
}};

const RegisterRestatement registered_counts_micro_batches{{
    .name = "optimizer-count-per-microbatch",
    .sentence = "the optimizer counts micro-batches as steps",
    .formula = "t = (t + 1) K - 1",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!counts_steps(c.recipe.optimizer)) return {};
      return {counted_by([&c](int w, std::int64_t) { return begun(c) + micro_batches_before(c, w + 1) - 1; })};
    },
}};

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

const RegisterRestatement registered_other_count{{
    .name = "optimizer-count-taken-as",
    .sentence = "the optimizer's step count differs from the number of steps taken",
    .formula = "t = what it was told",
    .remedy = "keep the step count with the optimizer's state, and count one step per window",
    .ways = [](const Case& c, const Trace& trace) -> Ways {
      const std::vector<std::int64_t> told = counts_told(c, trace);
      if (!counts_steps(c.recipe.optimizer) || told.empty() || !stays_in_range(told)) return {};
      Restated way = counted_by([told](int w, std::int64_t) { return told[static_cast<std::size_t>(w)]; });
      way.changed = 3;  // of the counts that say more, one stands first
      for (const std::int64_t count : told)
        way.formula += (way.formula.empty() ? "t = " : ", ") + std::to_string(count);
      return {way};
    },
}};

const RegisterRestatement registered_no_correction{{
    .name = "bias-correction-left-out",
    .sentence = "the moments are not bias-corrected",
    .formula = "m̂ = m, v̂ = v",
    .remedy = "divide the moments by 1 - beta^t, as `torch.optim.Adam` does",
    .ways = [](const Case& c, const Trace&) -> Ways {
      if (!counts_steps(c.recipe.optimizer)) return {};
      Restated way;
      way.deviation.leaves_corrections_out = true;
      return {way};
    },
}};

}  // namespace
}  // namespace tally::schedules_restatement

// A step is taken after every micro-batch: each is a window of its own, divided as a part of the one it belongs to.
namespace tally::step_at_every_micro_batch_restatement {
namespace {

/// The window and the micro-batch that a regrouped window was.
std::pair<int, int> stated_place(const Case& c, int regrouped) {
  int window = 0;
  while (regrouped_window(c, window + 1, 0) <= regrouped) ++window;
  return {window, regrouped - regrouped_window(c, window, 0)};
}

struct Choices {
  bool by_own_items, schedule_by_window, keeps_buffers;
};

Restated stepped(const Case& c, const Choices& choices) {
  Restated way;
  way.steps_each_micro_batch = true;
  way.changed = 2 + choices.by_own_items + choices.keeps_buffers;
  way.deviation.divisor = [&c, own = choices.by_own_items](int regrouped, int) {
    const auto [w, k] = stated_place(c, regrouped);
    const auto window = static_cast<std::size_t>(w), micro_batch = static_cast<std::size_t>(k);
    return own ? oracle::micro_batch_items<long double>(c, window, micro_batch)
               : oracle::divisor<long double>(c, window, micro_batch);
  };
  if (choices.schedule_by_window) {
    way.deviation.schedule_count = [&c](int regrouped, std::int64_t taken) {
      const int w = stated_place(c, regrouped).first;
      return taken - regrouped + w;
    };
  }
  if (choices.keeps_buffers) {
    way.deviation.goes_on = [&c](int regrouped) { return stated_place(c, regrouped).second > 0; };
    way.formula = "step after each s_0 + … + s_k";
  }
  return way;
}

std::vector<Restated> ways(const Case& c, const Trace& trace) {
  if (trace.claims.divide == "window" || checks_overflow(c.recipe.loss_scale)) return {};
  std::vector<Restated> all;
  for (const bool own : {false, true}) {
    for (const bool by_window : {true, false}) {
      for (const bool keeps : {false, true}) all.push_back(stepped(c, {own, by_window, keeps}));
    }
  }
  return all;
}

const RegisterRestatement registered{{
    .name = "step-at-every-microbatch",
    .sentence = "a step is taken after every micro-batch",
    .formula = "step after each s_k",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::step_at_every_micro_batch_restatement
