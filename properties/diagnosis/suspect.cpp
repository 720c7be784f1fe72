#include "properties/diagnosis/suspect.hpp"

#include <algorithm>
#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::string, Suspect, std::less<>>& registry() {
  static std::map<std::string, Suspect, std::less<>> all;
  return all;
}
}  // namespace

RegisterSuspect::RegisterSuspect(Suspect suspect, std::source_location at) {
  note_registered(at);
  registry().emplace(suspect.name, std::move(suspect));
}

std::vector<const Suspect*> suspects() {
  std::vector<const Suspect*> all;
  for (const auto& [name, suspect] : registry()) all.push_back(&suspect);
  return all;
}

const Suspect* find_suspect(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

bool stands_for(const Suspect& suspect, std::string_view fault) {
  return std::find(suspect.faults.begin(), suspect.faults.end(), fault) != suspect.faults.end();
}

}  // namespace tally
