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
    tell(moved_kind, take_moved(lists), "moved", "drawn otherwise");
    if (broken.contains(place)) {
      tell(Kind::told, lists.gone, "after", "not drawn after the failure");
    } else {
      tell(Kind::failed, lists.gone, "gone", "blessed before and gone");
    }
    tell(Kind::fresh, lists.fresh, "new", "new, blessed by nobody");
  }
  tell_others(results, blessed, out);
}

}  // namespace tally
