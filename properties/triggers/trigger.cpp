#include "properties/triggers/trigger.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {

std::map<int, std::vector<Trigger>>& registry() {
  static std::map<int, std::vector<Trigger>> all;
  return all;
}

std::vector<Trigger> in_order() {
  std::vector<Trigger> all;
  for (const auto& [row, group] : registry()) all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace

std::string_view word_of(TriggerKind kind) {
  switch (kind) {
    case TriggerKind::of_case:
      return "case";
    case TriggerKind::of_kernel:
      return "kernel";
    case TriggerKind::of_run:
      return "run";
    case TriggerKind::later:
      break;
  }
  return "later";
}

RegisterTriggers::RegisterTriggers(int row, const std::string& group, std::vector<Trigger> triggers,
                                   std::source_location at) {
  note_registered(at);
  for (Trigger& trigger : triggers) {
    trigger.group = group;
    registry()[row].push_back(std::move(trigger));
  }
}

const std::vector<Trigger>& triggers() {
  static const std::vector<Trigger> all = in_order();
  return all;
}

}  // namespace tally
