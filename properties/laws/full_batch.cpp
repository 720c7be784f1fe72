#include "properties/laws/full_batch.hpp"

#include "oracle/window/gap.hpp"
#include "properties/compare/two_runs.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally {

Outcome against_full_batch(const Case& c, const RunOptions& subject, const std::string& gap) {
  const Case whole = full_batch_of(c);
  CheckedRun apart = run_and_check(c, subject), together = run_and_check(whole, subject);
  Outcome outcome = std::move(apart.outcome);
  add(outcome, together.outcome);
  if (outcome.status == Status::not_run) return outcome;
  TwoRuns runs = compare_runs(c, apart.trace, whole, together.trace);
  for (TensorCheck& check : runs.checks) add(outcome, std::move(check));
  outcome.decision_drift = runs.decision_drift;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "loss", gap);
  return outcome;
}

}  // namespace tally
