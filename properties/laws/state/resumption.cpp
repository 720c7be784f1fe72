// Laws of going on: training resumes bit for bit, from any state, and a trace says what ran.
#include <algorithm>
#include <charconv>

#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/batch.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "properties/campaign/provenance/operation.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: stopping at a window's end and starting again from the state on disk leaves the same bits as going on.
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

// Law: training that starts from a given state goes on from it: momentum, both moments, the step count and, where the
// scale is dynamic, the count of clean windows.
namespace tally::state_is_taken_over_law {
namespace {

void shape(Plan& plan) {
  const bool sgd = plan.recipe.optimizer.kind == "sgd";
  if (plan.seed % 2 == 0) {
    if (sgd) plan.recipe.optimizer = choice("optimizer", "adam");
  } else if (sgd || plan.recipe.optimizer.kind == "adam") {
    const bool nesterov = plan.seed % 4 == 1;
    plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}, {"nesterov", nesterov}});
  }
  if (plan.recipe.loss_scale.kind == "dynamic") {
    plan.recipe.loss_scale.options["growth_interval"] = std::int64_t{2};
    plan.recipe.loss_scale.options["growth_counter"] = std::int64_t{1};
  }
}

/// The state of a loop that has taken a few steps.
Case in_the_middle(Case c) {
  std::uint64_t seed = static_cast<std::uint64_t>(c.windows.size());
  const auto add = [&](const std::string& name, const Tensor& like, const char* family) {
    Tensor state(like.dtype, like.shape);
    draw(state, {1, ++seed, family});
    c.tensors.insert_or_assign(name, std::move(state));
  };
  for (const std::string& parameter : parameters_of(c.model))
    for (const KeptTensor& kept : kept_beside(c, parameter))
      add(kept.name, {c.precision.master, kept.shape}, kept.of->never_negative ? "positive" : "normal");
  Tensor step(Dtype::i64, {});
  step.set(0, 3);
  c.tensors.insert_or_assign("step", step);
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(in_the_middle(c), subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(in_the_middle(c), subject), run(c, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "state_is_taken_over",
    .family = "state",
    .statement = "Training that starts from a given state goes on from it.",
    .shape = shape,
    .holds = holds,
    .control = "the same case without the state has another update",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::state_is_taken_over_law

// Law: a trace can be taken for what it says. It names the case it was made of and every kernel that the case chose,
// and holds no tap that the case cannot leave.
namespace tally::trace_says_what_ran_law {
namespace {

void require_its_case(Outcome& outcome, const Case& c, const Trace& trace) {
  require(outcome, trace.case_hash == hash_of(c), "case", "forward",
          "the trace says that it was made of case " + trace.case_hash + "; expected " + hash_of(c));
}

/// How products are made may stand back, where the case cannot be run so; the claim of "gemm" then tells what was done.
bool is_of_products(const std::string& operation) {
  return operation.starts_with("gemm") || claimed_name_of(operation) == "gemm";
}

/// A subject that names its own kernel of an operation runs that one.
bool is_named_by(const RunOptions& subject, const std::string& operation) {
  return subject.stages != nullptr && subject.stages->variants.contains(operation);
}

void require_its_kernels(Outcome& outcome, const Case& c, const RunOptions& subject, const Trace& trace) {
  for (const auto& [operation, variant] : c.execution.kernels) {
    if (is_of_products(operation) || is_named_by(subject, operation)) continue;
    const auto claim = trace.claims.kernels.find(operation);
    const std::string named = claim == trace.claims.kernels.end() ? "none" : claim->second.variant;
    require(
        outcome, named == variant, operation, "forward",
        "the trace names for " + operation + " the kernel " + named + "; expected " + variant + ", as the case says");
  }
}

/// What a case cannot leave would be read by nobody, and refused in a file.
void require_its_taps(Outcome& outcome, const Case& c, const Trace& trace) {
  TapLayouts layouts(c);
  for (const Tap& tap : trace.taps()) {
    if (layouts.of(tap.name).has_value()) continue;
    require(outcome, false, tap.name.text(), tap.name.stage, "this case has no tap " + tap.name.text());
  }
}

/// Differs in one point alone, as the cases that a campaign runs one after another may.
Case recomputed_or_not(Case c) {
  c.execution.recompute = !c.execution.recompute;
  c.execution.recomputed.clear();
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Case other = recomputed_or_not(c);
  require_its_case(judged.outcome, c, judged.trace);
  require_its_case(judged.outcome, other, run(other, subject));
  require_its_kernels(judged.outcome, c, subject, judged.trace);
  require_its_taps(judged.outcome, c, judged.trace);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return run(c, subject).case_hash != run(recomputed_or_not(c), subject).case_hash;
}

const RegisterLaw registered{{
    .name = "trace_says_what_ran",
    .family = "state",
    .statement = "A trace names its case and the kernels that it chose, and holds that case's taps alone.",
    .holds = holds,
    .control = "another case has another name",
    .differs = differs,
    .weight = 0.25,
}};

}  // namespace
}  // namespace tally::trace_says_what_ran_law
