// The gates one by one; each adds what it finds.
#include "reports/gate/gate.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "reports/census/census.hpp"
#include "reports/compare/entry.hpp"
#include "reports/gate/rules.hpp"
#include "reports/text/text.hpp"

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

namespace {

using Kind = GateFinding::Kind;

void hold_cases(const Results& results, Findings& out) {
  for (const CaseRecord& c : results.cases) {
    const std::string place = place_of(c.law, c.precision) + " [c-" + c.id + "]";
    const bool inside = c.status != Status::pass || c.worst_local_ratio <= 1;  // NaN is not inside
    if (is_broken(c.status)) {
      const std::string message = c.message.empty() ? std::string(word_of(c.status)) : c.message;
      out.push_back({Kind::failed, "bound", place, message + "; " + c.title, c.law});
    } else if (!inside) {
      out.push_back({Kind::failed, "bound", place, "called a pass with r = " + shortest(c.worst_local_ratio), c.law});
    }
  }
}

}  // namespace

std::string place_of(const std::string& law, const std::string& precision) { return law + ", " + precision; }

void bound_gate(const Results& results, Findings& out) {
  hold_cases(results, out);
  for (const TrainingRecord& t : results.training)
    if (is_broken(t.status))
      out.push_back({Kind::failed, "bound", t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut, t.message,
                     "training"});
  for (const LawRecord& law : results.laws) {
    if (control_is_missing(law))
      out.push_back({Kind::failed, "bound", law.name, "its control does not differ", "control"});
    else if (is_broken(law.status))
      out.push_back({Kind::failed, "bound", law.name, law.message.empty() ? "the law failed" : law.message, "law"});
  }
}

namespace {

using Kind = GateFinding::Kind;

/// Cases that must have the same bits and do not, by law and precision: on the host all of them. Results of a device
/// that name no kernels are of older files: nothing is known of them.
std::map<std::string, std::uint64_t> changed_cases(const Sides& sides, bool on_device) {
  std::map<std::string, std::uint64_t> changed;
  const auto repeats = [on_device](const CaseEntry& entry) {
    return !on_device || (entry.repeats() && !entry.operations.empty());
  };
  for_each_pair(
      sides.before, sides.now,
      [&](const CaseEntry& before, const CaseEntry& now) {
        const bool counts = now.status == Status::pass || now.status == Status::vacuous;
        if (counts && !same_content(before, now) && repeats(before) && repeats(now))
          ++changed[place_of(now.law, now.precision)];
      },
      [](const CaseEntry&) {}, [](const CaseEntry&) {});
  return changed;
}

std::string ratios_text(const LawChange& law) {
  if (!ratio_is_worse(law.worst_now, law.worst_before) && !ratio_is_worse(law.worst_before, law.worst_now))
    return "worst r is the same, " + shortest(law.worst_now);
  return "worst r " + shortest(law.worst_before) + " blessed, " + shortest(law.worst_now) + " now" +
         (ratio_is_worse(law.worst_before, law.worst_now) ? " (better)" : "");
}

std::string name_of(const OperationChange& change) {
  return change.operation + (change.variant_now.empty() ? "" : "/" + change.variant_now) + ", " + change.precision;
}

std::string changed_text(const OperationChange& change) {
  std::string text = "bits of " + grouped(change.changed()) + " of " + counted(change.cases, "case") + " changed, " +
                     grouped(change.own) + " from equal inputs; error " + text_of(change.accuracy);
  if (change.variant_before != change.variant_now) text += "; was " + change.variant_before;
  return text;
}

Kind kind_of(const OperationChange& change, bool bits_repeat) {
  const bool repeats = change.repeats || bits_repeat;
  if (repeats && change.own > 0) return Kind::failed;
  if (repeats) return Kind::told;  // its inputs changed
  switch (change.accuracy.verdict) {
    case AccuracyVerdict::worse:
      return Kind::failed;
    case AccuracyVerdict::undecided:
      return Kind::undecided;
    default:
      return Kind::told;
  }
}

}  // namespace

void drift_gate(const Sides& sides, const Comparison& comparison, const Results& results, Findings& out) {
  for (const OperationChange& change : comparison.operations) {
    const bool slipped = change.accuracy.verdict == AccuracyVerdict::worse;
    if (change.changed() == 0 && !slipped && change.variant_before == change.variant_now) continue;
    out.push_back({slipped ? Kind::failed : kind_of(change, comparison.bits_repeat), "drift", name_of(change),
                   changed_text(change)});
  }
  const auto changed = changed_cases(sides, results.ran_on_device > 0);
  for (const LawChange& law : comparison.laws) {
    const std::string place = place_of(law.law, law.precision);
    if (const auto found = changed.find(place); found != changed.end()) {
      out.push_back({Kind::failed, "drift", place,
                     grouped(found->second) + " of " + counted(law.cases, "case") + " changed; " + ratios_text(law)});
    } else if (law.equal < law.cases) {
      out.push_back({Kind::told, "drift", place, ratios_text(law) + "; these kernels need not repeat"});
    }
  }
}

namespace {

using Kind = GateFinding::Kind;

constexpr std::size_t most_ids = 3;

using Ids = std::vector<std::string>;

struct Lists {
  Ids gone, fresh, vacuous, not_run;
};

/// "3 cases gone: 1a…, 2b…, 3c…".
std::string listed(const Ids& ids, const std::string& what) {
  std::string text = counted(ids.size(), "case") + " " + what + ": ";
  for (std::size_t i = 0; i < std::min(ids.size(), most_ids); ++i) text += (i ? ", " : "") + ids[i];
  return text + (ids.size() > most_ids ? " and " + grouped(ids.size() - most_ids) + " more" : "");
}

std::map<std::string, Lists> lists_of(const Sides& sides) {
  std::map<std::string, Lists> lists;
  const auto of = [&lists](const CaseEntry& entry) -> Lists& { return lists[place_of(entry.law, entry.precision)]; };
  for_each_pair(
      sides.before, sides.now,
      [&](const CaseEntry& before, const CaseEntry& now) {
        if (before.status == Status::pass && now.status == Status::vacuous) of(now).vacuous.push_back(now.id);
        if (now.status == Status::not_run) of(now).not_run.push_back(now.id);
      },
      [&](const CaseEntry& gone) { of(gone).gone.push_back(gone.id); },
      [&](const CaseEntry& fresh) {
        if (!is_broken(fresh.status) && fresh.status != Status::not_run) of(fresh).fresh.push_back(fresh.id);
      });
  return lists;
}

/// Laws and precisions that stopped drawing at a failure, which is the bound gate's matter.
std::set<std::string> broken_places(const Results& results) {
  std::set<std::string> places;
  for (const CaseRecord& c : results.cases)
    if (is_broken(c.status)) places.insert(place_of(c.law, c.precision));
  return places;
}

void tell_others(const Results& results, const Baseline& blessed, Findings& out) {
  const Machine machine = machine_of(results);
  const Drawn drawn = drawn_of(results);
  std::uint64_t machines = 0, draws = 0;
  for (const BlessedCase& c : blessed.cases) {
    const Blessing& blessing = blessed.blessing(c.blessing);
    machines += blessing.machine != machine;
    draws += blessing.machine == machine && !(blessing.drawn == drawn);
  }
  if (machines > 0)
    out.push_back({Kind::told, "coverage", "baseline", counted(machines, "case") + " of other machines: not compared",
                   "elsewhere", machines});
  if (draws > 0)
    out.push_back({Kind::told, "coverage", "baseline",
                   counted(draws, "case") + " of another campaign, seed or effort: not compared", "elsewhere", draws});
}

}  // namespace

Sides sides_of(const Results& results, const Baseline& blessed) {
  Sides sides;
  const Drawn drawn = drawn_of(results);
  Baseline same_draw = blessed;
  std::erase_if(same_draw.cases, [&](const BlessedCase& c) { return !(blessed.blessing(c.blessing).drawn == drawn); });
  sides.before = same_draw.entries_of(machine_of(results));
  sides.now = entries_of(results);
  return sides;
}

/// The search breeds cases from what it finds, so that other kernels are shown others: of those only the number counts.
/// The ids of `gone` and `fresh` that stand for none of the other side are left in them.
Ids take_moved(Lists& lists) {
  const std::size_t moved = std::min(lists.gone.size(), lists.fresh.size());
  const auto end = lists.fresh.begin() + static_cast<std::ptrdiff_t>(moved);
  Ids ids(lists.fresh.begin(), end);
  lists.fresh.erase(lists.fresh.begin(), end);
  lists.gone.erase(lists.gone.begin(), lists.gone.begin() + static_cast<std::ptrdiff_t>(moved));
  return ids;
}

void coverage_gate(const Sides& sides, const Results& results, const Baseline& blessed, Findings& out) {
  const std::set<std::string> broken = broken_places(results);
  const Kind moved_kind = results.ran_on_device > 0 ? Kind::told : Kind::fresh;
  for (auto& [place, lists] : lists_of(sides)) {
    const auto tell = [&out, &place = place](Kind kind, const Ids& ids, const char* what, const char* words) {
      if (!ids.empty()) out.push_back({kind, "coverage", place, listed(ids, words), what, ids.size()});
    };
    tell(Kind::failed, lists.vacuous, "vacuous", "passed when blessed, vacuous now");
    tell(Kind::failed, lists.not_run, "not run", "blessed before and not run now");
    tell(moved_kind, take_moved(lists), "moved", "drawn differently");
    if (broken.contains(place)) {
      tell(Kind::told, lists.gone, "after", "not drawn after the failure");
    } else {
      tell(Kind::failed, lists.gone, "gone", "blessed before, gone now");
    }
    tell(Kind::fresh, lists.fresh, "new", "new, not blessed yet");
  }
  tell_others(results, blessed, out);
}

using Kind = GateFinding::Kind;

void teeth_gate(const Results& results, const Baseline& blessed, Findings& out) {
  const Machine machine = machine_of(results);
  std::vector<BlessedFault> before;
  for (const BlessedFault& fault : blessed.faults)
    if (blessed.blessing(fault.blessing).machine == machine) before.push_back(fault);
  const auto was_blessed = [&before](const std::string& name) {
    return std::any_of(before.begin(), before.end(), [&name](const BlessedFault& f) { return f.name == name; });
  };
  for (const BlessedFault& fault : before) {
    const bool caught = std::any_of(results.faults.begin(), results.faults.end(),
                                    [&fault](const FaultRecord& f) { return f.caught && f.name == fault.name; });
    if (!caught)
      out.push_back(
          {Kind::failed, "teeth", fault.name, "was caught by " + fault.law + " and is not caught now", "lost"});
  }
  for (const FaultRecord& fault : results.faults) {
    if (was_blessed(fault.name)) continue;
    if (fault.caught) {
      out.push_back({Kind::fresh, "teeth", fault.name, "new: not blessed yet", "fault"});
    } else {
      out.push_back({Kind::failed, "teeth", fault.name, "not caught", "lost"});
    }
  }
}

}  // namespace tally
