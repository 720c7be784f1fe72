// The registry of known bugs.
#include "properties/diagnosis/bug.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::string, Bug, std::less<>>& registry() {
  static std::map<std::string, Bug, std::less<>> all;
  return all;
}
}  // namespace

RegisterBug::RegisterBug(Bug bug, std::source_location at) {
  note_registered(at);
  registry().emplace(bug.name, std::move(bug));
}

std::vector<const Bug*> bugs() {
  std::vector<const Bug*> all;
  for (const auto& [name, bug] : registry()) all.push_back(&bug);
  return all;
}

const Bug* find_bug(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

}  // namespace tally
