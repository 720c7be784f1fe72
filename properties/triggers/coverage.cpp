#include "properties/triggers/coverage.hpp"

#include <stdexcept>

#include "properties/triggers/reach.hpp"

namespace tally {
namespace {

std::vector<TriggerRecord> unseen(ExecutorKind executor) {
  std::vector<TriggerRecord> records;
  const std::size_t digits = (triggers().size() + 3) / 4;
  for (const Trigger& t : triggers()) {
    records.push_back({t.name, t.group, std::string(word_of(t.kind)), t.description, 0, std::string(digits, '0')});
  }
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

}  // namespace

Coverage::Coverage(ExecutorKind executor) : records_(unseen(executor)) {}

void Coverage::add_case(const std::vector<std::vector<bool>>& runs, const std::set<std::size_t>& reached) {
  for (const std::size_t place : reached) ++records_.at(triggers().size() + place).seen;
  std::vector<bool> seen(triggers().size());
  for (const auto& run : runs) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (!run[i]) continue;
      seen[i] = true;
      for (std::size_t j = 0; j < run.size(); ++j) {
        if (run[j] && j != i) see_with(records_[i], j);
      }
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) records_[i].seen += seen[i];
}

void Coverage::note(std::string_view name, std::uint64_t times) { records_[place_of(name)].seen += times; }

std::size_t Coverage::new_pairs(const std::vector<std::vector<bool>>& runs) const {
  std::size_t count = 0;
  for (const auto& run : runs) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      for (std::size_t j = 0; run[i] && j < i; ++j) {
        const bool both = run[j] && records_[i].kind == "case" && records_[j].kind == "case";
        count += both && !was_seen_with(records_[i], j);
      }
    }
  }
  return count;
}

std::vector<bool> triggers_of(const Sight& sight) {
  std::vector<bool> seen;
  for (const Trigger& trigger : triggers()) seen.push_back(trigger.seen && trigger.seen(sight));
  return seen;
}

CoverageScope::CoverageScope(const Case& drawn, ExecutorKind executor) : drawn_(drawn), executor_(executor) {}

void CoverageScope::see_run(const Case& c, const CheckedRun& run) {
  runs_.push_back(triggers_of(Sight(drawn_, c, run.trace)));
  if (run.trace.claims.subject == name_of(executor_)) reached_.merge(reached_by(executor_, c, run.paths));
}

void CoverageScope::see_launches(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  if (executor_ == executor) reached_.merge(paths_reached(executor, paths));
}

void CoverageScope::see_trigger(std::string_view name) {
  runs_.emplace_back(triggers().size());
  runs_.back()[place_of(name)] = true;
}

}  // namespace tally
