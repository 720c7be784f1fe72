#include "properties/triggers/coverage.hpp"

#include <stdexcept>

#include "properties/generators/settings.hpp"
#include "properties/triggers/reach.hpp"

namespace tally {
namespace {

std::vector<TriggerRecord> unseen(ExecutorKind executor) {
  std::vector<TriggerRecord> records;
  for (const Trigger& t : triggers())
    records.push_back({t.name, t.group, std::string(word_of(t.kind)), t.description, 0, ""});
  const auto& others = records_to_reach(executor);
  records.insert(records.end(), others.begin(), others.end());
  return records;
}

std::size_t place_of(std::string_view name) {
  for (std::size_t i = 0; i < triggers().size(); ++i) {
    if (triggers()[i].name == name) return i;
  }
  throw std::logic_error("no trigger is called '" + std::string(name) + "'");
}

/// Calls `each` for every pair of settings that the run showed.
template <class Each>
void for_each_pair(const SeenRun& run, Each each) {
  const auto end = run.reached.lower_bound(settings().size());
  for (auto later = run.reached.begin(); later != end; ++later)
    for (auto earlier = run.reached.begin(); earlier != later; ++earlier) each(*later, *earlier);
}

}  // namespace

Coverage::Coverage(ExecutorKind executor) : records_(unseen(executor)) {}

void Coverage::add_case(const std::vector<SeenRun>& runs) {
  SeenRun whole;
  for (const SeenRun& run : runs) {
    whole.triggers.insert(run.triggers.begin(), run.triggers.end());
    whole.reached.insert(run.reached.begin(), run.reached.end());
    for_each_pair(run, [&](std::size_t i, std::size_t j) { see_with(records_[triggers().size() + i], j); });
  }
  for (const std::size_t place : whole.triggers) ++records_.at(place).seen;
  for (const std::size_t place : whole.reached) ++records_.at(triggers().size() + place).seen;
}

void Coverage::note(std::string_view name, std::uint64_t times) { records_[place_of(name)].seen += times; }

std::size_t Coverage::new_pairs(const std::vector<SeenRun>& runs) const {
  std::size_t count = 0;
  for (const SeenRun& run : runs)
    for_each_pair(run, [&](std::size_t i, std::size_t j) {
      count += !was_seen_with(records_[triggers().size() + i], j) && make_a_pair(i, j);
    });
  return count;
}

std::set<std::size_t> triggers_of(const Sight& sight) {
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < triggers().size(); ++i)
    if (triggers()[i].seen && triggers()[i].seen(sight)) seen.insert(i);
  return seen;
}

CoverageScope::CoverageScope(const Case& drawn, ExecutorKind executor) : drawn_(drawn), executor_(executor) {}

void CoverageScope::see_run(const Case& c, const CheckedRun& run) {
  runs_.push_back({triggers_of(Sight(drawn_, c, run.trace)), {}});
  if (run.trace.claims.subject == name_of(executor_)) runs_.back().reached = reached_by(executor_, c, run.paths);
}

void CoverageScope::see_launches(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  if (executor_ == executor) runs_.push_back({{}, paths_reached(executor, paths)});
}

void CoverageScope::see_trigger(std::string_view name) { runs_.push_back({{place_of(name)}, {}}); }

}  // namespace tally
