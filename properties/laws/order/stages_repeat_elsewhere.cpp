// Law: a stage that starts from the same bits leaves the same bits, on whatever executor and in whatever order of
// threads. One executor runs the case; another follows it stage by stage, from the first one's own bits. Products of
// matrices and kernels that promise no bits are left to their bounds. With a GPU that is its bits against the host's;
// without one it is the text of a kernel by another compiler, or else in another schedule alone.
#include "properties/compare/lens.hpp"
#include "properties/generators/residual_norm_designs.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"
#include "properties/operations/operation.hpp"

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
