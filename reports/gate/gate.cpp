#include "reports/gate/gate.hpp"

#include <algorithm>

#include "reports/gate/rules.hpp"
#include "reports/text/utf8.hpp"

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
  if (results.partial) findings.push_back({Kind::failed, "coverage", "run", "incomplete: " + results.partial_reason});
  const Results unwaived = waivers_gate(results, context, findings);
  const Sides sides = sides_of(results, baseline);
  report.comparison = compared(sides.before, sides.now);
  bound_gate(unwaived, findings);
  drift_gate(sides, report.comparison, results, findings);
  coverage_gate(sides, results, baseline, findings);
  teeth_gate(results, baseline, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const GateFinding& a, const GateFinding& b) { return a.kind < b.kind; });
  report.exit_code = exit_code_of(unwaived, findings);
  return report;
}

std::string gate_text(const GateReport& report) {
  std::string out;
  const char* marks[] = {"\u2717 FAIL", "+ new ", "? undecided", "  note"};
  for (const GateFinding& f : report.findings)
    out += std::string(marks[static_cast<int>(f.kind)]) + "  " + f.gate + "  " + one_line(f.place + ": " + f.message) +
           "\n";
  switch (report.exit_code) {
    case 0:
      return out + "PASS  nothing that counts differs from the baseline\n";
    case 4:
      return out + "NOT RUN  nothing was judged\n";
    case 5:
      return out + "NEW  nothing failed; bless what is new: tally bless RESULTS --baseline FILE --reason \"...\"\n";
    default:
      return out + "FAIL  the gate is closed\n";
  }
}

}  // namespace tally
