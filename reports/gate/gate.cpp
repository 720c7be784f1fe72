#include "reports/gate/gate.hpp"

#include <algorithm>

#include "reports/gate/rules.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;

int exit_code_of(const Results& results, const Findings& findings) {
  const auto any = [&findings](Kind kind) {
    return std::any_of(findings.begin(), findings.end(), [kind](const GateFinding& f) { return f.kind == kind; });
  };
  const Status verdict = verdict_of(results);
  if (!results.partial && (verdict == Status::not_run || verdict == Status::vacuous)) return 4;
  if (any(Kind::failed) || verdict != Status::pass) return 1;
  return any(Kind::fresh) ? 5 : 0;
}

}  // namespace

GateReport gate(const Results& results, const Baseline& baseline, const GateContext& context) {
  GateReport report;
  Findings& findings = report.findings;
  if (results.partial)
    findings.push_back({Kind::failed, "coverage", "run", "incomplete: " + results.partial_reason, "partial"});
  const Results unwaived = waivers_gate(results, context, findings);
  const Sides sides = sides_of(results, baseline);
  report.comparison = compared(sides.before, sides.now);
  report.comparison.bits_repeat = results.ran_on_device == 0;
  bound_gate(unwaived, findings);
  drift_gate(sides, report.comparison, results, findings);
  coverage_gate(sides, results, baseline, findings);
  teeth_gate(results, baseline, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const GateFinding& a, const GateFinding& b) { return a.kind < b.kind; });
  report.exit_code = exit_code_of(unwaived, findings);
  return report;
}

}  // namespace tally
