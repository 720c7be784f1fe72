// Law: stopping at a window's end and starting again from the state on disk leaves the same bits as going on.
#include <algorithm>
#include <charconv>

#include "oracle/case/cut_rows.hpp"
#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::resumes_bitwise_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.windows.resize(2);
  if (plan.normalisation == Normalisation::mean_of_means_configured) plan.normalisation = Normalisation::window_items;
}

/// Takes the newest value of `name` in a window-0 stage, where there is one.
void take(Case& c, const Trace& trace, const std::string& stage, const std::string& name) {
  for (auto tap = trace.taps().rbegin(); tap != trace.taps().rend(); ++tap) {
    if (tap->name.window != 0 || tap->name.stage != stage || tap->name.tensor != name) continue;
    c.tensors[name] = tap->value;
    return;
  }
}

void take_optimizer_state(Case& resumed, const Case& c, const Trace& trace) {
  for (const std::string& parameter : parameters_of(c.model)) {
    take(resumed, trace, "optimizer", parameter);
    for (const StateTensor* each : state_of(c.recipe.optimizer))
      take(resumed, trace, "optimizer", each->name + ("." + parameter));
  }
  for (const Layer& l : c.model.layers) {
    for (const std::string name : {".running_mean", ".running_var"})
      take(resumed, trace, "running_stats", l.name + name);
  }
  const Tensor* step = trace.find("w0/schedule/step");
  if (step) resumed.tensors["step"] = *step;
}

void take_scale(Case& resumed, const Trace& trace) {
  const Tensor* scale = trace.find("w0/scaler/scale");
  const Tensor* counter = trace.find("w0/scaler/growth_counter");
  if (!scale || !counter) return;
  resumed.recipe.loss_scale.options["initial"] = decimal(scale->value(0));
  resumed.recipe.loss_scale.options["growth_counter"] = counter->integer(0);
}

/// The second window as a case of its own, from the state the first one left.
Case resumed_after(const Case& c, const Trace& trace) {
  Case resumed = c;
  resumed.windows = {c.windows[1]};
  const std::int64_t first = first_row(c, 1);
  keep_rows(c, {{first, rows_of(c) - first}}, resumed);
  take_optimizer_state(resumed, c, trace);
  take_scale(resumed, trace);
  return resumed;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (c.windows.size() != 2 || !c.dealt.empty()) return not_for("two windows of one rank");
  CheckedRun whole = run_and_check(c, subject);
  if (whole.outcome.status == Status::not_run) return whole.outcome;
  const Case resumed = resumed_after(c, whole.trace);
  if (!validate(resumed).empty())
    return vacuous(settled(std::move(whole.outcome)), "the first window left numbers that no case begins with");
  const CheckedRun second = run_and_check(resumed, subject);
  add(whole.outcome, second.outcome);
  const PromisedBits promised(second.trace);
  std::size_t compared = 0;
  for (const Tap& tap : second.trace.taps()) {
    if (tap.name.stage != "optimizer" || tap.name.tensor.starts_with("in.") || !promised.of(tap.name)) continue;
    TapName there = tap.name;
    there.window = 1;
    const Tensor* value = whole.trace.find(there.view());
    ++compared;
    require(whole.outcome, value && *value == tap.value, there.text(), "optimizer",
            tap.name.tensor + " differs after resuming at the window's end");
  }
  const Tensor* found = whole.trace.find("w1/overflow_check/found");
  const bool skipped = found && found->integer(0) == 1;  // then there is no update to compare
  if (compared == 0 && !promised.without().empty()) {
    no_promise(whole.outcome, promised, "optimizer");
    return settled(std::move(whole.outcome));
  }
  require(whole.outcome, compared > 0 || skipped, "resumed", "optimizer", "the resumed window left nothing to compare");
  return settled(std::move(whole.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const Trace whole = run(c, subject);
  const Case resumed = resumed_after(c, run(with_other_input(c), subject));
  if (!validate(resumed).empty()) return false;
  const Trace again = run(resumed, subject);
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* a = whole.find("w1/optimizer/" + parameter);
    const Tensor* b = again.find("w0/optimizer/" + parameter);
    if (a && b && !(*a == *b)) return true;
  }
  return false;
}

const RegisterLaw registered{{
    .name = "resumes_bitwise",
    .family = "state",
    .statement = "Stopping at a window's end and starting again leaves the same bits as going on.",
    .shape = shape,
    .holds = holds,
    .control = "resuming from another state leaves other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::resumes_bitwise_law
