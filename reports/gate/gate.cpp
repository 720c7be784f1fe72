#include "reports/gate/gate.hpp"

#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/utf8.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;
using Findings = std::vector<GateFinding>;

std::string place_of(const std::string& law, const std::string& precision) { return law + ", " + precision; }

void bound_gate(const Results& results, Findings& out) {
  for (const CaseRecord& c : results.cases) {
    const std::string place = place_of(c.law, c.precision) + ": " + c.title + " [" + c.id + "]";
    const bool inside = c.status != Status::pass || c.worst_local_ratio <= 1;  // NaN is not inside
    if (c.status == Status::fail || c.status == Status::error) {
      out.push_back({Kind::failed, "bound", place, c.message.empty() ? std::string(word_of(c.status)) : c.message});
    } else if (!inside) {
      out.push_back({Kind::failed, "bound", place, "called a pass with r = " + shortest(c.worst_local_ratio)});
    }
  }
  for (const TrainingRecord& t : results.training)
    if (t.status == Status::fail || t.status == Status::error)
      out.push_back({Kind::failed, "bound", t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut, t.message});
  for (const LawRecord& law : results.laws) {
    if (control_is_missing(law))
      out.push_back({Kind::failed, "bound", law.name, "its control does not differ"});
    else if (law.status == Status::fail || law.status == Status::error)
      out.push_back({Kind::failed, "bound", law.name, law.message.empty() ? "the law failed" : law.message});
  }
}

std::string change(const BlessedGroup& before, const BlessedGroup& now) {
  if (before.cases != now.cases) return counted(before.cases, "case") + " blessed, " + grouped(now.cases) + " now";
  if (ratio_is_worse(now.worst_ratio, before.worst_ratio) || ratio_is_worse(before.worst_ratio, now.worst_ratio))
    return "worst r " + shortest(before.worst_ratio) + " blessed, " + shortest(now.worst_ratio) + " now" +
           (ratio_is_worse(before.worst_ratio, now.worst_ratio) ? " (better)" : "");
  return "worst r is the same, other ratios changed";
}

void drift_gate(const Results& results, const BlessedGroup& before, const BlessedGroup& now, Findings& out) {
  if (before.same_content(now)) return;
  const std::string place = place_of(now.law, now.precision);
  if (!(before.drawn == now.drawn)) {
    out.push_back({Kind::told, "drift", place, "other campaign, seed or effort than blessed: not compared"});
  } else if (before.cases != now.cases) {
    out.push_back({Kind::failed, "coverage", place, change(before, now)});
  } else if (results.ran_on_device > 0) {
    out.push_back({Kind::told, "drift", place, change(before, now) + "; device runs need not repeat"});
  } else {
    out.push_back({Kind::failed, "drift", place, change(before, now)});
  }
}

void compare_groups(const Results& results, const Baseline& current, const Baseline& blessed, Findings& out) {
  const Machine machine = machine_of(results);
  for (const BlessedGroup& before : blessed.groups) {
    if (before.machine != machine) continue;
    const auto now = std::find_if(current.groups.begin(), current.groups.end(),
                                  [&before](const BlessedGroup& g) { return g.same_place(before); });
    if (now == current.groups.end()) {
      out.push_back(
          {Kind::failed, "coverage", place_of(before.law, before.precision), "blessed before, no case passed now"});
    } else {
      drift_gate(results, before, *now, out);
    }
  }
  for (const BlessedGroup& now : current.groups)
    if (std::none_of(blessed.groups.begin(), blessed.groups.end(),
                     [&now](const BlessedGroup& g) { return g.same_place(now); }))
      out.push_back({Kind::fresh, "coverage", place_of(now.law, now.precision), "new: nobody has blessed it"});
}

void compare_faults(const Results& results, const Baseline& current, const Baseline& blessed, Findings& out) {
  const auto has = [](const std::vector<BlessedFault>& list, const BlessedFault& fault) {
    return std::any_of(list.begin(), list.end(), [&fault](const BlessedFault& f) { return f.same_place(fault); });
  };
  const Machine machine = machine_of(results);
  for (const BlessedFault& before : blessed.faults)
    if (before.machine == machine && !has(current.faults, before))
      out.push_back({Kind::failed, "teeth", before.name, "was caught by " + before.law + " and is not caught now"});
  for (const FaultRecord& fault : results.faults)
    if (!fault.caught && !has(blessed.faults, {machine, fault.name, "", ""}))
      out.push_back({Kind::failed, "teeth", fault.name, "got away"});
  for (const BlessedFault& now : current.faults)
    if (!has(blessed.faults, now)) out.push_back({Kind::fresh, "teeth", now.name, "new: nobody has blessed it"});
}

void tell_foreign(const Results& results, const Baseline& blessed, Findings& out) {
  const Machine machine = machine_of(results);
  const auto foreign = std::count_if(blessed.groups.begin(), blessed.groups.end(),
                                     [&machine](const BlessedGroup& g) { return g.machine != machine; });
  if (foreign > 0)
    out.push_back({Kind::told, "coverage", "baseline",
                   counted(static_cast<std::uint64_t>(foreign), "group") + " of other machines: not compared"});
}

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

GateReport gate(const Results& results, const Baseline& baseline) {
  GateReport report;
  const Baseline current = baseline_of(results);
  if (results.partial)
    report.findings.push_back({Kind::failed, "coverage", "run", "incomplete: " + results.partial_reason});
  bound_gate(results, report.findings);
  compare_groups(results, current, baseline, report.findings);
  compare_faults(results, current, baseline, report.findings);
  tell_foreign(results, baseline, report.findings);
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const GateFinding& a, const GateFinding& b) { return a.kind < b.kind; });
  report.exit_code = exit_code_of(results, report.findings);
  return report;
}

std::string gate_text(const GateReport& report) {
  std::string out;
  const char* marks[] = {"\u2717 FAIL", "+ new ", "  note"};
  for (const GateFinding& f : report.findings)
    out += std::string(marks[static_cast<int>(f.kind)]) + "  " + f.gate + "  " + one_line(f.place + ": " + f.message) +
           "\n";
  switch (report.exit_code) {
    case 0:
      return out + "PASS  nothing differs from the baseline\n";
    case 4:
      return out + "NOT RUN  nothing was judged\n";
    case 5:
      return out + "NEW  nothing failed; bless what is new: tally bless RESULTS --baseline FILE --reason \"...\"\n";
    default:
      return out + "FAIL  the gate is closed\n";
  }
}

}  // namespace tally
