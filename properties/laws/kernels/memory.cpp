// Laws of memory: all outputs are written, nothing else is, and taps change nothing.
#include <algorithm>

#include "kernels/device/device.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: nothing depends on what memory held: with every activation and gradient poisoned before each micro-batch, and
// every unscaled gradient before the step, the bits are the same.
namespace tally::every_output_is_written_law {
namespace {

/// The stages under test, for the stages that poison first.
thread_local const Stages* under_test = nullptr;

void poisoned_forward(Run& run) {
  if (run.recomputing) return under_test->forward(run);          // backward is under way: its inputs must stay
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {  // what is in front of a part was received
    LayerState& layer = run.layers[i];
    for (DeviceTensor* output : {&layer.y, &layer.dx, &layer.dy}) {
      if (*output) output->poison();
    }
  }
  run.losses.poison();
  run.dy.poison();
  for (Parameter& parameter : run.parameters) parameter.gradient.poison();
  under_test->forward(run);
}

void poisoned_unscale(Run& run) {
  for (Parameter& parameter : run.parameters) parameter.unscaled.poison();
  under_test->unscale(run);
}

Trace run_poisoned(const Case& c, const RunOptions& subject) {
  under_test = subject.stages != nullptr ? subject.stages : &shipped_stages();
  Stages stages = *under_test;
  stages.forward = poisoned_forward;
  stages.unscale = poisoned_unscale;
  RunOptions poisoned = subject;
  poisoned.stages = &stages;
  return run(c, poisoned);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "memory poisoned between two stages");
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  require_equal_bits(judged.outcome, judged.trace, run_poisoned(c, subject),
                     {"forward", "loss", "backward", "fork", "unscale", "optimizer"},
                     "an output depends on what its memory held");
  return settled(std::move(judged.outcome));
}

/// What is never written must show: a poisoned buffer between two runs of a stage does.
bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run_poisoned(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_output_is_written",
    .family = "kernels",
    .statement = "Every output is written: what memory held before changes nothing.",
    .holds = holds,
    .control = "another input with poisoned memory gives other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::every_output_is_written_law

// Law: kernels write only what is theirs: the zones before and after every buffer keep their pattern, and inputs keep
// their bits, at every size around warp, block and tile edges.
namespace tally::guard_zones_stay_intact_law {
namespace {

void shape(Plan& plan) {
  static const std::int64_t edges[] = {1, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257};
  plan.input = edges[plan.seed % 11];
  plan.windows = {{1 + std::int64_t(plan.seed % 5), 2 + std::int64_t(plan.seed % 33)}};
  for (Layer& l : plan.hidden) {
    if (l.kind == "batch_norm" && l.text("statistics") == "micro_batch")
      l.options["statistics"] = std::string("window");
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "what lies beyond each buffer");
  CheckedRun judged = run_and_check(c, subject);
  require(judged.outcome, judged.trace.violations.empty(), "guard_zones", "kernel", "a guard zone or an input changed");
  return settled(std::move(judged.outcome));
}

/// A write one element past the end must be seen.
bool differs(const Case&, const RunOptions& subject) {
  Device& on = device(subject.executor);
  const Buffer buffer(on, "control", Dtype::fp32, 3);
  const float beyond = 1;
  on.write(static_cast<std::byte*>(buffer.data()) + buffer.bytes(), &beyond, sizeof beyond);
  return !on.check_guards().empty();
}

const RegisterLaw registered{{
    .name = "guard_zones_stay_intact",
    .family = "kernels",
    .statement = "Kernels write only what is theirs, at every size around warp, block and tile edges.",
    .shape = shape,
    .holds = holds,
    .control = "a write one element past the end is seen",
    .differs = differs,
    .any_values = true,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::guard_zones_stay_intact_law

// Law: a run without taps ends in the same bits as one with them: reading a stage must not synchronise a race away.
namespace tally::observation_changes_nothing_law {
namespace {

/// In one plan of four ranks whose number changes, with running values of one layer or two; in another one few layers.
void shape(Plan& plan) {
  if (plan.seed % 4 == 0) {
    with_batch_norm(plan, "micro_batch");
    if (plan.seed % 8 == 0)
      plan.hidden.push_back(layer("batch_norm", "norm9", {{"statistics", std::string("micro_batch")}}));
    at_least_windows(plan, 2);
    dealt_to_ranks(plan);
    change_ranks(plan);
  }
  if (plan.seed % 4 == 2) plan.hidden = {layer("relu")};
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun watched = run_and_check(c, subject);
  if (watched.outcome.status == Status::not_run) return watched.outcome;
  const bool stepped = std::ranges::any_of(watched.trace.taps(), [](const Tap& tap) {
    return tap.name.stage == "optimizer" || tap.name.stage == "running_stats";
  });
  if (!stepped) return vacuous(settled(std::move(watched.outcome)), "no window took its step");
  RunOptions unwatched = subject;
  unwatched.taps = false;
  require_equal_bits(watched.outcome, run(c, unwatched), watched.trace, {"optimizer", "running_stats"},
                     "the run without taps ended elsewhere");
  return settled(std::move(watched.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  RunOptions unwatched = subject;
  unwatched.taps = false;
  return bits_differ(run(with_other_input(c), unwatched), run(c, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "observation_changes_nothing",
    .family = "kernels",
    .statement = "A run without taps ends in the same bits as one with them.",
    .shape = shape,
    .holds = holds,
    .control = "another input without taps ends elsewhere",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::observation_changes_nothing_law

// Law: the built-in training step leaves every tap that the lenses judge or read. What is not tapped is judged by
// nobody, and a case with a gap would only count as not run.
namespace tally::every_tap_is_there_law {
namespace {

const TensorCheck* first_missing(const Outcome& outcome) {
  const auto found = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                                  [](const TensorCheck& check) { return check.status == Status::not_run; });
  return found == outcome.checks.end() ? nullptr : &*found;
}

/// What a subject need not leave, and Tally's own step does: the items that every rank counted.
void require_counts(Outcome& outcome, const Case& c, const Trace& trace) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    if (!counted_items(c, w)) continue;
    const auto window = static_cast<int>(w);
    for (std::size_t rank = 0; rank < ranks_of(c, w); ++rank)
      for (int k = -1; k < static_cast<int>(micro_batches_of(c, w, rank)); ++k) {
        const TapName name{window, k, "count", "items", c.dealt.empty() ? -1 : static_cast<int>(rank)};
        const bool there = trace.find(name.view()) != nullptr;
        require(outcome, there, name.text(), "count", name.text() + " was not tapped, so that it is not judged");
      }
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.checks.empty()) return judged.outcome;  // the case could not run at all
  const TensorCheck* missing = first_missing(judged.outcome);
  if (missing == nullptr) {
    if (own_step(subject) == nullptr) require_counts(judged.outcome, c, judged.trace);
    return settled(std::move(judged.outcome));
  }
  const std::string tap = missing->tap, stage = missing->stage;
  judged.outcome.status = Status::pass;
  require(judged.outcome, false, tap, stage, tap + " was not tapped, so that it is not judged");
  return settled(std::move(judged.outcome));
}

/// A trace without its last output has a gap.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace whole = run(c, subject);
  const auto is_output = [](const Tap& tap) { return !tap.name.tensor.starts_with("in."); };
  const auto last = std::find_if(whole.taps().rbegin(), whole.taps().rend(), is_output);
  if (last == whole.taps().rend()) return false;
  Trace shorter;
  shorter.claims = whole.claims;
  for (const Tap& tap : whole.taps()) {
    if (!(tap.name == last->name)) shorter.add(tap.name, tap.value);
  }
  Outcome outcome;
  outcome.checks = local_lens(c, shorter);
  return first_missing(outcome) != nullptr;
}

const RegisterLaw registered{{
    .name = "every_tap_is_there",
    .family = "kernels",
    .statement = "The training step leaves every tap that the lenses judge or read.",
    .holds = holds,
    .control = "a trace without its last output has a gap",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::every_tap_is_there_law
