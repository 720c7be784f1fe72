#include <algorithm>
#include <map>
#include <set>

#include "reports/compare/pairs.hpp"
#include "reports/gate/rules.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;

constexpr std::size_t most_ids = 3;

struct Lists {
  std::vector<std::string> gone, fresh, vacuous, not_run;
};

bool is_broken(Status status) { return status == Status::fail || status == Status::error; }

/// "3 cases gone: 1a…, 2b…, 3c…".
std::string listed(const std::vector<std::string>& ids, const std::string& what) {
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
    out.push_back({Kind::told, "coverage", "baseline", counted(machines, "case") + " of other machines: not compared"});
  if (draws > 0)
    out.push_back({Kind::told, "coverage", "baseline",
                   counted(draws, "case") + " of another campaign, seed or effort: not compared"});
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

/// Where kernels need not repeat, the search for hard cases may draw others: only their number counts.
void coverage_gate(const Sides& sides, const Results& results, const Baseline& blessed, Findings& out) {
  const bool may_differ = results.ran_on_device > 0;
  const std::set<std::string> broken = broken_places(results);
  for (const auto& [place, lists] : lists_of(sides)) {
    if (!lists.vacuous.empty())
      out.push_back({Kind::failed, "coverage", place, listed(lists.vacuous, "passed when blessed, vacuous now")});
    if (may_differ && lists.gone.size() == lists.fresh.size()) {
      if (!lists.gone.empty()) out.push_back({Kind::told, "coverage", place, listed(lists.fresh, "drawn otherwise")});
      continue;
    }
    if (!lists.not_run.empty())
      out.push_back({Kind::failed, "coverage", place, listed(lists.not_run, "blessed before and not run now")});
    if (!lists.gone.empty() && broken.contains(place)) {
      out.push_back({Kind::told, "coverage", place, listed(lists.gone, "not drawn after the failure")});
    } else if (!lists.gone.empty()) {
      out.push_back({Kind::failed, "coverage", place, listed(lists.gone, "blessed before and gone")});
    }
    if (!lists.fresh.empty())
      out.push_back({Kind::fresh, "coverage", place, listed(lists.fresh, "new, blessed by nobody")});
  }
  tell_others(results, blessed, out);
}

}  // namespace tally
