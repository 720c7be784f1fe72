#include "properties/faults/fault.hpp"

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

}  // namespace tally
