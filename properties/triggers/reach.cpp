#include "properties/triggers/reach.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sizes.hpp"
#include "properties/generators/settings.hpp"

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

}  // namespace tally
