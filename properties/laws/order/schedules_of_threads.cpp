// Laws of the order that threads and blocks run in: the bound holds, no race, the same bits elsewhere.
#include "kernels/device/device.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "properties/campaign/provenance/operation.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: whatever order threads and blocks run in, every tensor stays inside its bound.
namespace tally::any_schedule_of_threads_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    RunOptions other = subject;
    other.schedule_seed = seed;
    add(outcome, run_and_check(c, other).outcome);
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  std::vector<Preemption> choices;
  RunOptions other = subject;
  other.schedule_seed = 1;
  other.recorded = &choices;
  run(c, other);
  return subject.executor == ExecutorKind::cuda || !choices.empty();  // a GPU draws its own
}

const RegisterLaw registered{{
    .name = "any_schedule_of_threads",
    .family = "schedule freedom",
    .statement = "Whatever order threads and blocks run in, every tensor stays inside its bound.",
    .shape = columns_for_several_threads,
    .holds = holds,
    .control = "a drawn schedule makes other choices than the default",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::any_schedule_of_threads_law

// Law: no kernel breaks a rule of the machine, in whatever order threads run: no data race, no access outside of a
// buffer, no shared memory read before it is written. The checked executor sees all of that; where the program was
// built without it, the host executor sees divergence, deadlock and damaged guard zones alone.
namespace tally::no_data_race_law {
namespace {

/// One plan in four has attention, whose threads keep sums of their own in memory that all of them see.
void shape(Plan& plan) {
  if (plan.seed % 4 == 1)
    attend(plan);
  else
    columns_for_several_threads(plan);
}

/// The same text, compiled for the executor that looks closest.
RunOptions watched(const RunOptions& subject) {
  RunOptions other = subject;
  other.executor = built_with_checks() ? ExecutorKind::checked : ExecutorKind::host;
  return other;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "every access of a thread to memory");
  return settled(run_and_check(c, watched(subject)).outcome);
}

/// A write one element past the end must be seen.
bool differs(const Case&, const RunOptions& subject) {
  Device& on = device(watched(subject).executor);
  const Buffer buffer(on, "control", Dtype::fp32, 3);
  const float beyond = 1;
  on.write(static_cast<std::byte*>(buffer.data()) + buffer.bytes(), &beyond, sizeof beyond);
  return !on.check_guards().empty();
}

const RegisterLaw registered{{
    .name = "no_data_race",
    .family = "schedule freedom",
    .statement = "In no order of threads does a kernel race, or touch memory that is not its own.",
    .shape = shape,
    .holds = holds,
    .control = "a write one element past the end is seen",
    .differs = differs,
    .weight = 0.5,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::no_data_race_law

// Law: a stage that starts from the same bits leaves the same bits, on whatever executor and in whatever order of
// threads. One executor runs the case; another follows it stage by stage, from the first one's own bits. Products of
// matrices and kernels that promise no bits are left to their bounds. With a GPU that is its bits against the host's;
// without one it is the text of a kernel by another compiler, or else in another schedule alone.
namespace tally::stages_repeat_elsewhere_law {
namespace {

/// In one plan of four a norm behind a sum, in the pass that takes both.
void shape(Plan& plan) {
  if (plan.seed % 4 != 1) return;
  design_residual_norms(plan);
}

RunOptions elsewhere(const RunOptions& subject, const Trace& followed) {
  RunOptions other = subject;
  const ExecutorKind closest = built_with_checks() ? ExecutorKind::checked : ExecutorKind::host;
  other.executor = subject.executor == ExecutorKind::host ? closest : ExecutorKind::host;
  other.schedule_seed = other.order_seed = 1;
  other.follow = &followed;
  return other;
}

/// Whether a product adds the weight's gradient into its buffer, in the place of `accumulate`.
bool is_added_by_product(const Trace& trace, const TapName& tap) {
  const auto claim = trace.claims.kernels.find("linear.weight_gradient");
  const bool is_added = claim != trace.claims.kernels.end() && claim->second.algorithm == "into_buffer";
  return is_added && tap.stage == "accumulate" && tap.tensor.ends_with(".weight");
}

/// Whether what writes this tap promises its bits, given those it reads. An input was written by the stage before.
bool is_promised(const Case& c, const Trace& trace, const TapName& tap) {
  if (tap.tensor.starts_with("in.")) return true;
  if (is_added_by_product(trace, tap)) return false;
  const auto claim = trace.claims.kernels.find(claimed_name_of(operation_writing(c, tap)));
  if (claim == trace.claims.kernels.end()) return true;  // a stage without kernels
  return claim->first != "gemm" && claim->second.repeats == Repeats::bitwise;
}

void compare(Outcome& outcome, const Case& c, const Trace& followed, const Trace& trace) {
  std::size_t compared = 0;
  for (const Tap& tap : followed.taps()) {
    const std::string name = tap.name.text();
    if (!is_promised(c, followed, tap.name) || !is_promised(c, trace, tap.name)) continue;
    const Tensor* other = trace.find(name);
    ++compared;
    if (other == nullptr) {
      require(outcome, false, name, tap.name.stage, name + " was tapped on one executor alone");
    } else {
      add(outcome, bitwise_check(name, tap.name.stage, tap.value, *other));
    }
  }
  require(outcome, compared > 0, "compared taps", "forward", "nothing to compare");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  Outcome outcome = judged.outcome;
  compare(outcome, c, judged.trace, run(c, elsewhere(subject, judged.trace)));
  return settled(std::move(outcome));
}

/// Without following, the other order of additions shows in what comes after a product; the input's change always does.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace followed = run(c, subject);
  Outcome outcome;
  compare(outcome, c, followed, run(with_other_input(c), elsewhere(subject, followed)));
  return settled(std::move(outcome)).status == Status::fail;
}

const RegisterLaw registered{{
    .name = "stages_repeat_elsewhere",
    .family = "schedule freedom",
    .statement = "From the same bits a stage leaves the same bits, whatever executor runs it and in whatever order.",
    .shape = shape,
    .holds = holds,
    .control = "another input is seen in the first stage that reads it",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::stages_repeat_elsewhere_law
