#include <algorithm>
#include <set>

#include "reports/gate/gate.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;
using Chosen = std::vector<const GateFinding*>;

/// So many findings of one kind are told one by one.
constexpr std::size_t most_told = 3, widest = 150;

template <class Is>
Chosen chosen(const GateReport& report, Is is) {
  Chosen found;
  for (const GateFinding& finding : report.findings)
    if (is(finding)) found.push_back(&finding);
  return found;
}

Chosen of(const GateReport& report, const std::string& gate, const std::string& what) {
  return chosen(report, [&](const GateFinding& f) { return f.gate == gate && f.what == what; });
}

/// What a case is called a failure by: the law stands where other findings have their kind.
bool is_broken_case(const GateFinding& f) {
  return f.gate == "bound" && f.what != "training" && f.what != "control" && f.what != "law";
}

std::uint64_t total(const Chosen& findings) {
  std::uint64_t sum = 0;
  for (const GateFinding* finding : findings) sum += finding->count;
  return sum;
}

std::string line_of(const GateFinding& finding) { return one_line(finding.place + ": " + finding.message); }

/// A title, the first findings, and how many there are besides.
std::string told(const std::string& title, const Chosen& findings) {
  if (findings.empty()) return "";
  std::string text = title + "\n";
  for (std::size_t i = 0; i < std::min(findings.size(), most_told); ++i)
    text += columns({{line_of(*findings[i])}}, widest);
  return text + (findings.size() > most_told ? "  and " + grouped(findings.size() - most_told) + " more: --all\n" : "");
}

std::size_t laws_of(const Chosen& cases) {
  std::set<std::string> laws;
  for (const GateFinding* finding : cases) laws.insert(finding->what);
  return laws.size();
}

std::string bounds_text(const GateReport& report) {
  const Chosen cases = chosen(report, is_broken_case), laws = of(report, "bound", "law");
  std::string text = told("Broken: " + counted(cases.size(), "case") + " of " + counted(laws_of(cases), "law"), cases);
  if (cases.empty()) text += told("Broken: " + counted(laws.size(), "law"), laws);
  text +=
      told("Broken: " + counted(of(report, "bound", "training").size(), "training"), of(report, "bound", "training"));
  return text + told("Laws that cannot fail", of(report, "bound", "control")) +
         told("Seeded faults that were not caught", of(report, "teeth", "lost"));
}

/// "12 cases new, not blessed yet (4 laws in a precision)", each kind in one line.
std::string coverage_text(const GateReport& report) {
  const std::pair<const char*, const char*> kinds[] = {
      {"partial", ""},
      {"gone", "blessed before, gone now"},
      {"vacuous", "passed when blessed, vacuous now"},
      {"not run", "blessed before and not run now"},
      {"moved", "drawn differently, as the search follows what it finds: not compared"},
      {"after", "not drawn after a failure"},
      {"new", "new, not blessed yet"}};
  std::string text;
  for (const auto& [what, words] : kinds) {
    const Chosen found = of(report, "coverage", what);
    if (found.empty()) continue;
    if (found.size() == 1) {
      text += "  " + line_of(*found.front()) + "\n";
    } else {
      text += "  " + counted(total(found), "case") + " " + words + ", in " + grouped(found.size()) +
              " laws in a precision\n";
    }
  }
  for (const GateFinding* finding : of(report, "coverage", "elsewhere")) text += "  " + line_of(*finding) + "\n";
  if (const Chosen fresh = of(report, "teeth", "fault"); !fresh.empty())
    text += "  " + counted(fresh.size(), "seeded fault") + " caught, not blessed yet\n";
  return text.empty() ? "" : "Coverage\n" + text;
}

std::string waivers_text(const GateReport& report) {
  return told("Waivers to settle", of(report, "waivers", "waiver")) + told("Waived", of(report, "waivers", "known"));
}

Besides besides_of(const GateReport& report) {
  Besides besides;
  const Chosen cases = chosen(report, is_broken_case);
  besides.broken = cases.size(), besides.broken_laws = laws_of(cases);
  const auto add = [&report](std::vector<std::string>& list, const char* gate, const char* what, const char* one,
                             const char* words) {
    const std::uint64_t count = total(of(report, gate, what));
    if (count > 0) list.push_back(counted(count, one) + words);
  };
  if (cases.empty()) add(besides.refused, "bound", "law", "law", " failed");
  add(besides.refused, "bound", "training", "training", " failed");
  add(besides.refused, "bound", "control", "law", " that cannot fail");
  add(besides.refused, "teeth", "lost", "seeded fault", " not caught");
  add(besides.refused, "waivers", "waiver", "waiver", " to settle");
  if (!of(report, "coverage", "partial").empty()) besides.refused.push_back("the run is incomplete");
  add(besides.open, "coverage", "gone", "case", " gone");
  add(besides.open, "coverage", "vacuous", "case", " vacuous now");
  add(besides.open, "coverage", "not run", "case", " not run");
  const bool open = report.exit_code == 5;
  if (open) add(besides.open, "coverage", "moved", "case", " drawn differently");
  if (open) add(besides.open, "coverage", "new", "new case", "");
  if (open) add(besides.open, "teeth", "fault", "new fault", " caught");
  const Comparison& comparison = report.comparison;
  const std::uint64_t otherwise = comparison.cases - comparison.equal;
  const bool failed = std::any_of(report.findings.begin(), report.findings.end(),
                                  [](const GateFinding& f) { return f.gate == "drift" && f.kind == Kind::failed; });
  if (failed && otherwise > 0 && kernel_changes_of(comparison).own.empty())
    besides.open.push_back(counted(otherwise, "case") + " judged otherwise");
  return besides;
}

std::string verdict_of(const GateReport& report) {
  if (report.exit_code == 4) return "NOT RUN  nothing was judged\n";
  const char* word = report.exit_code == 0 ? "PASS" : report.exit_code == 5 ? "NEW" : "FAIL";
  return std::string(word) + "  " + decision_text(report.comparison, besides_of(report)) + "\n";
}

}  // namespace

std::string findings_text(const GateReport& report) {
  std::string out;
  const char* marks[] = {"\u2717 FAIL", "+ new ", "? undecided", "  note"};
  for (const GateFinding& f : report.findings)
    out += std::string(marks[static_cast<int>(f.kind)]) + "  " + f.gate + "  " + line_of(f) + "\n";
  return out;
}

std::string gate_text(const GateReport& report, const GateText& how) {
  const bool all = how.changes.all;
  return text_of(kernel_changes_of(report.comparison), how.changes) + bounds_text(report) +
         law_changes_text(report.comparison, all) + coverage_text(report) + waivers_text(report) +
         (all ? "Every finding\n" + findings_text(report) : "") + how.accept + verdict_of(report);
}

}  // namespace tally
