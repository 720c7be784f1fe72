#include "properties/faults/equivalent/equivalent.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::string, EquivalentMutant, std::less<>>& registry() {
  static std::map<std::string, EquivalentMutant, std::less<>> all;
  return all;
}
}  // namespace

RegisterEquivalent::RegisterEquivalent(EquivalentMutant mutant, std::source_location at) {
  note_registered(at);
  registry().emplace(mutant.name, std::move(mutant));
}

std::vector<const EquivalentMutant*> equivalent_mutants() {
  std::vector<const EquivalentMutant*> all;
  for (const auto& [name, mutant] : registry()) all.push_back(&mutant);
  return all;
}

}  // namespace tally
