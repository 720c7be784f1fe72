#include "properties/faults/fault.hpp"

#include <algorithm>
#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::string, Fault, std::less<>>& registry() {
  static std::map<std::string, Fault, std::less<>> all;
  return all;
}
}  // namespace

RegisterFault::RegisterFault(Fault fault, std::source_location at) {
  note_registered(at);
  registry().emplace(fault.name, std::move(fault));
}

std::vector<const Fault*> faults() {
  std::vector<const Fault*> all;
  for (const auto& [name, fault] : registry()) all.push_back(&fault);
  return all;
}

const Fault* find_fault(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

std::vector<std::string> faults_of(std::string_view law) {
  std::vector<const Fault*> breaking = faults();
  std::erase_if(breaking,
                [law](const Fault* fault) { return std::ranges::find(fault->laws, law) == fault->laws.end(); });
  std::ranges::stable_partition(breaking, [law](const Fault* fault) { return fault->laws.front() == law; });
  std::vector<std::string> names;
  for (const Fault* fault : breaking) names.push_back(fault->name);
  return names;
}

}  // namespace tally
