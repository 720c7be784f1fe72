// Law: a trace can be taken for what it says. It names the case it was made of and every kernel that the case chose,
// and holds no tap that the case cannot leave.
#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/operations/operation.hpp"

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
