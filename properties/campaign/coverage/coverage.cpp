// Which coverage points, settings, pairs of settings and ways of launches the cases of a campaign showed, and which it
// must reach.
#include "properties/campaign/coverage/coverage.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sizes.hpp"
#include "properties/generators/settings.hpp"
#include "properties/laws/settings/together.hpp"

namespace tally {
namespace {

struct Frame {
  std::vector<TriggerRecord> records;
  std::unordered_map<std::string, std::size_t> places;

  void add(TriggerRecord record) {
    places.emplace(record.name, records.size());
    records.push_back(std::move(record));
  }
};

/// As they stand in settings(): their places are the first.
void add_settings(Frame& frame) {
  for (const CaseSetting& setting : settings()) {
    const std::string group = setting.is_option() ? "options of " + setting.section : "kinds and words";
    frame.add({setting.name, group, setting.is_option() ? "option" : "setting", "", 0, ""});
  }
}

/// What changes at a value, or next to it: "a block of keys at 16".
std::string edges_near(const std::string& size, std::int64_t value) {
  std::set<std::string> near;
  for (const SizeEdge& edge : size_edges())
    if (edge.size == size && std::abs(edge.value - value) <= 1)
      near.insert(edge.what + " at " + std::to_string(edge.value));
  std::string text;
  for (const std::string& each : near) text += (text.empty() ? "" : "; ") + each;
  return text;
}

void add_paths(Frame& frame, ExecutorKind executor) {
  for (const LaunchPath& path : launch_paths_of(executor)) {
    const bool later = !path.out_of_reach.empty();
    frame.add({name_of_path(path), path.kernel, later ? "later" : "path", path.out_of_reach, 0, ""});
  }
}

/// "keys of a sequence = 17".
std::string size_name(const std::string& size, std::int64_t value) { return size + " = " + std::to_string(value); }

std::string beside_name(const SizeEdge& edge, const std::string& word) {
  return size_name(edge.size, edge.value) + ", " + edge.beside + " = " + word;
}

void add_sizes(Frame& frame) {
  for (const SizeEdge& edge : size_edges())
    for (const RankKey& key : rank_keys())
      for (const std::string& word : key.option.words)
        if (key.name() == edge.beside) frame.add({beside_name(edge, word), "sizes", "size", edge.what, 0, ""});
  for (const DeclaredSize& size : declared_sizes())
    for (const std::int64_t value : values_around_edges(size.name))
      frame.add({size_name(size.name, value), "sizes", "size", edges_near(size.name, value), 0, ""});
}

const Frame& frame_of(ExecutorKind executor) {
  static std::map<ExecutorKind, Frame> frames;
  const auto [found, is_new] = frames.try_emplace(executor);
  if (is_new) {
    add_settings(found->second);
    add_sizes(found->second);
    add_paths(found->second, executor);
  }
  return found->second;
}

void reach(const Frame& frame, const std::string& name, std::set<std::size_t>& places) {
  const auto found = frame.places.find(name);
  if (found != frame.places.end()) places.insert(found->second);
}

void reach_sizes(const Frame& frame, const Case& c, std::set<std::size_t>& places) {
  for (const DeclaredSize& size : declared_sizes())
    for (const std::int64_t value : size.in(c)) reach(frame, size_name(size.name, value), places);
  for (const SizeEdge& edge : size_edges()) {
    if (edge.beside.empty() || most_ranks_of(c) == 1) continue;
    const auto values = declared_size(edge.size).in(c);
    if (std::ranges::count(values, edge.value) > 0) reach(frame, beside_name(edge, rank_word(c, edge.beside)), places);
  }
}

}  // namespace

std::string name_of_path(const LaunchPath& path) {
  return path.kernel + (path.precision.empty() ? "" : ", " + path.precision) + ": " + path.way;
}

std::set<LaunchPath> launch_paths_of(ExecutorKind executor) {
  std::set<LaunchPath> all;
  for (const RegisteredKernel* kernel : registered_kernels()) {
    const bool counts = kernel->executor == executor && kernel->declare != nullptr &&
                        !kernel->claim.variant.starts_with('~') && !kernel->operation.starts_with("probe.");
    if (counts) all.merge(declared_paths(*kernel));
  }
  return all;
}

const std::vector<TriggerRecord>& records_to_reach(ExecutorKind executor) { return frame_of(executor).records; }

std::set<std::size_t> reached_by(ExecutorKind executor, const Case& c, const std::set<LaunchPath>& paths) {
  const Frame& frame = frame_of(executor);
  std::set<std::size_t> places = settings_of(c);
  reach_sizes(frame, c, places);
  places.merge(paths_reached(executor, paths));
  return places;
}

std::set<std::size_t> paths_reached(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  std::set<std::size_t> places;
  for (const LaunchPath& path : paths) reach(frame_of(executor), name_of_path(path), places);
  return places;
}

namespace {

/// Calls `each` with the places of every pair, the later one first, and whether a run showed it.
template <class Each>
void for_every_pair(const std::vector<TriggerRecord>& triggers, Each each) {
  const auto first = std::ranges::find(triggers, settings().front().name, &TriggerRecord::name);
  for (std::size_t i = 0; first != triggers.end() && i < settings().size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (make_a_pair(i, j)) each(i, j, was_seen_with(*(first + static_cast<std::ptrdiff_t>(i)), j));
}

}  // namespace

PairsRecord pairs_of(const std::vector<TriggerRecord>& triggers) {
  PairsRecord pairs;
  for_every_pair(triggers, [&](std::size_t i, std::size_t j, bool seen) {
    if (seen)
      ++pairs.seen;
    else if (why_never_together(i, j))
      ++pairs.refused;
    else
      pairs.unseen.push_back(settings()[j].name + " beside " + settings()[i].name);
  });
  return pairs;
}

std::vector<std::pair<std::size_t, std::size_t>> pairs_to_show(const std::vector<TriggerRecord>& triggers) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for_every_pair(triggers, [&](std::size_t i, std::size_t j, bool seen) {
    if (!seen && !why_never_together(i, j)) pairs.emplace_back(i, j);
  });
  return pairs;
}

bool counts_pairs(const Results& results) {
  return results.triggers_required && !results.partial && results.shard.empty();
}

void count_pairs(Results& results) {
  if (counts_pairs(results)) results.pairs = pairs_of(results.triggers);
}

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
