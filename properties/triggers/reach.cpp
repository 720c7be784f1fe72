#include "properties/triggers/reach.hpp"

#include <map>
#include <unordered_map>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/sections.hpp"
#include "properties/generators/option_values.hpp"

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

std::string option_name(std::string_view section, const std::string& kind, const std::string& option,
                        const OptionValue& value) {
  return std::string(section) + " " + kind + ", " + option + " = " + name_of_value(value);
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> all{"layer", "loss"};
  for (const RecipeSection& section : recipe_sections) all.push_back(section.name);
  return all;
}

void add_options(Frame& frame) {
  for (const std::string_view section : sections()) {
    for (const Contract* contract : drawn_contracts_of(section)) {
      for (const Option& option : contract->options) {
        for (const OptionValue& value : values_worth_drawing(*contract, option)) {
          frame.add({option_name(section, contract->kind, option.name, value), "options of " + std::string(section),
                     "option", "", 0, ""});
        }
      }
    }
  }
}

void add_paths(Frame& frame, ExecutorKind executor) {
  for (const LaunchPath& path : launch_paths_of(executor)) {
    const bool later = !path.out_of_reach.empty();
    frame.add({name_of_path(path), path.kernel, later ? "later" : "path", path.out_of_reach, 0, ""});
  }
}

const Frame& frame_of(ExecutorKind executor) {
  static std::map<ExecutorKind, Frame> frames;
  const auto [found, is_new] = frames.try_emplace(executor);
  if (is_new) {
    add_options(found->second);
    add_paths(found->second, executor);
  }
  return found->second;
}

void reach(const Frame& frame, const std::string& name, std::set<std::size_t>& places) {
  const auto found = frame.places.find(name);
  if (found != frame.places.end()) places.insert(found->second);
}

void reach_options(const Frame& frame, std::string_view section, const Choice& choice, std::set<std::size_t>& places) {
  for (const auto& [option, value] : choice.options)
    reach(frame, option_name(section, choice.kind, option, value), places);
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
  std::set<std::size_t> places;
  for (const Layer& layer : c.model.layers) reach_options(frame, "layer", layer, places);
  reach_options(frame, "loss", c.model.loss, places);
  for (const RecipeSection& section : recipe_sections)
    reach_options(frame, section.name, c.recipe.*section.choice, places);
  places.merge(paths_reached(executor, paths));
  return places;
}

std::set<std::size_t> paths_reached(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  std::set<std::size_t> places;
  for (const LaunchPath& path : paths) reach(frame_of(executor), name_of_path(path), places);
  return places;
}

}  // namespace tally
