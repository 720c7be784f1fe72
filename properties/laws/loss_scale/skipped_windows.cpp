// Laws of skipped windows: what stays, what backs off, and what moves all the same.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: an overflow in any micro-batch skips the whole window: parameters, optimizer state and step count stay, the
// scale backs off, and the next window starts clean.
namespace tally::overflow_skips_the_window_law {
namespace {

/// Whether `w<window>/overflow_check/found` says overflow; false when it was not tapped.
bool found(const Trace& trace, int window) {
  const Tensor* flag = trace.find("w" + std::to_string(window) + "/overflow_check/found");
  return flag && flag->integer(0) == 1;
}

void require_frozen(Outcome& outcome, const Case& c, const Trace& trace) {
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* now = trace.find("w1/cast/in." + parameter);
    require(outcome, now && *now == c.tensors.at(parameter), "w1/cast/in." + parameter, "optimizer",
            parameter + " moved in a window that overflowed");
    require(outcome, !trace.find("w0/optimizer/" + parameter), "w0/optimizer/" + parameter, "overflow_check",
            "the optimizer ran on " + parameter + " in a window that overflowed");
  }
  const Tensor* step = trace.find("w1/schedule/in.step");
  require(outcome, step && step->integer(0) == 0, "w1/schedule/in.step", "schedule",
          "the step count moved in a window that overflowed");
  const Tensor* before = trace.find("w0/scaler/in.scale");
  const Tensor* after = trace.find("w0/scaler/scale");
  require(outcome, before && after && after->value(0) == before->value(0) / 2, "w0/scaler/scale", "scaler",
          "the scale did not back off by one half after an overflow");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  require(judged.outcome, found(judged.trace, 0), "w0/overflow_check/found", "overflow_check",
          "an overflow in the first micro-batch was not found");
  require_frozen(judged.outcome, c, judged.trace);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case tame = c;
  Tensor& x = tame.tensors.at("x");
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.model.input); ++i) x.set(i, 0);
  Choice& scale = tame.recipe.loss_scale;
  scale.options["initial"] = Decimal{"1"};
  return !found(run(tame, subject), 0);
}

const RegisterLaw registered{{
    .name = "overflow_skips_the_window",
    .family = "loss scaling",
    .statement = "An overflow in any micro-batch skips the whole window and backs the scale off.",
    .shape = overflow_in_first_micro_batch,
    .holds = holds,
    .control = "the same case without the large row takes the step",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::overflow_skips_the_window_law

// Law: of two overflowing windows in a row each is skipped, the scale backs off twice, and the clean window after them
// takes its step.
// One feature of one row is huge in each of the two, its weights are zero: outputs stay small, and of all gradients
// only that column's weights overflow. Vacuous where they do not, or where the clean window does.
namespace tally::overflows_in_a_row_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  plan.gradient_magnitude = 1;
  plan.windows = {{2, 1, 3}, {2, 2, 1}, {2, 2}};
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic",
             {{"initial", Decimal{narrow ? "4096" : "1152921504606846976"}}, {"growth_interval", std::int64_t{2}}});
}

/// The micro-batch that overflows, of three, follows from the data.
Case with_huge_elements(Case c) {
  Tensor &x = c.tensors.at("x"), &weight = c.tensors.at("out.weight");
  const auto inputs = static_cast<std::size_t>(c.model.input);
  const auto drawn = static_cast<std::size_t>(x.bits(0));
  for (const std::size_t window : {0u, 1u}) {
    const auto row = static_cast<std::size_t>(first_row(c, window, (drawn + window) % 3));
    x.set(row * inputs, format_row(c.precision.storage).has_range_of_fp32() ? 0x1p100 : 0x1p15);
  }
  for (std::size_t o = 0; o * inputs < weight.elements(); ++o) weight.set(o * inputs, 0);
  x.drawing.reset();
  weight.drawing.reset();
  return c;
}

/// -1 where it was not tapped.
std::int64_t found(const Trace& trace, std::size_t window) {
  const Tensor* flag = trace.find("w" + std::to_string(window) + "/overflow_check/found");
  return flag ? flag->integer(0) : -1;
}

bool overflows(const Case& c, const Trace& trace, std::size_t window) {
  const std::string last =
      "w" + std::to_string(window) + "/m" + std::to_string(c.windows[window].size() - 1) + "/accumulate/buffer.";
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* buffer = trace.find(last + parameter);
    for (std::size_t i = 0; buffer && i < buffer->elements(); ++i) {
      if (!std::isfinite(buffer->value(i))) return true;
    }
  }
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Case huge = with_huge_elements(c);
  CheckedRun judged = run_and_check(huge, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  std::vector<bool> overflow;
  for (std::size_t window = 0; window < huge.windows.size(); ++window) {
    overflow.push_back(overflows(huge, judged.trace, window));
    require(judged.outcome, found(judged.trace, window) == (overflow.back() ? 1 : 0), "overflow_check/found",
            "overflow_check", "window " + std::to_string(window) + " is not skipped just where it overflows");
  }
  if (overflow != std::vector<bool>{true, true, false})
    return vacuous(settled(std::move(judged.outcome)), "not the first two windows overflow, and they alone");
  const Tensor* first = judged.trace.find("w0/scaler/in.scale");
  const Tensor* last = judged.trace.find("w2/scaler/in.scale");
  require(judged.outcome, first && last && 4 * last->value(0) == first->value(0), "w2/scaler/in.scale", "scaler",
          "two windows overflowed and the scale is not a quarter of what it was");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return found(run(c, subject), 0) == 0 && found(run(with_huge_elements(c), subject), 0) == 1;
}

const RegisterLaw registered{{
    .name = "overflows_in_a_row",
    .family = "loss scaling",
    .statement = "Two overflowing windows in a row are both skipped, and the clean one after them takes its step.",
    .shape = shape,
    .holds = holds,
    .control = "the same windows without the huge elements are not skipped",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::overflows_in_a_row_law

// Law: running statistics move in a window that is skipped as in any other: the forward pass saw its rows.
namespace tally::running_statistics_move_on_skip_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, plan.seed % 2 == 0 ? "micro_batch" : "window");
  for (Layer& l : plan.hidden) {
    if (l.kind == "batch_norm") l.options["momentum"] = Decimal{"0.1"};  // at 0 none ever moves
  }
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 2);
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  const std::string initial = narrow ? "16777216" : "1329227995784915872903807060280344576";  // 2^24, 2^120
  plan.recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{initial}}});
}

Case with_large_targets(Case c) {
  Tensor& target = c.tensors.at("target");
  const auto rows = static_cast<std::size_t>(first_row(c, 1));
  const std::size_t width = target.elements() / static_cast<std::size_t>(target.shape[0]);
  for (std::size_t i = 0; i < rows * width; ++i) target.set(i, 0x1p12 * (1 + target.value(i)));
  target.drawing.reset();
  return c;
}

bool skipped(const Trace& trace) {
  const Tensor* flag = trace.find("w0/overflow_check/found");
  return flag && flag->integer(0) == 1;
}

bool moves_statistics(const Case& c) {
  const auto moves = [](const Layer& layer) {
    return layer.kind == "batch_norm" && layer.text("statistics") != "frozen";
  };
  return c.windows.size() > 1 && c.model.loss.kind == "mse" && checks_overflow(c.recipe.loss_scale) &&
         std::ranges::any_of(c.model.layers, moves);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!moves_statistics(c)) return not_for("a batch_norm whose values move, mse, two windows and a dynamic scale");
  const Case large = with_large_targets(c);
  CheckedRun judged = run_and_check(large, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  std::size_t moved = 0;
  for (const Tap& tap : judged.trace.taps()) {
    if (tap.name.window != 0 || tap.name.stage != "running_stats" || tap.name.tensor.starts_with("in.")) continue;
    TapName before = tap.name;
    before.tensor = "in." + tap.name.tensor;
    const Tensor* old = judged.trace.find(before.view());
    moved += old && !(*old == tap.value);
  }
  require(judged.outcome, moved > 0, "w0/running_stats", "running_stats", "no running value moved in a skipped window");
  Outcome outcome = settled(std::move(judged.outcome));
  return !skipped(judged.trace) ? vacuous(std::move(outcome), "the window did not overflow") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case tame = c;
  tame.recipe.loss_scale.options["initial"] = Decimal{"1"};
  return skipped(run(with_large_targets(c), subject)) && !skipped(run(tame, subject));
}

const RegisterLaw registered{{
    .name = "running_statistics_move_on_skip",
    .family = "loss scaling",
    .statement = "A window that overflows moves the running statistics all the same.",
    .shape = shape,
    .holds = holds,
    .control = "a small scale and small targets take the step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::running_statistics_move_on_skip_law
