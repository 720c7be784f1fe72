// Law: running statistics move in a window that is skipped as in any other: the forward pass saw its rows.
#include <algorithm>

#include "oracle/case/formats.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
