#include "oracle/recipe/optimizer_rules.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include "oracle/registered_files.hpp"

namespace tally::oracle {
namespace {

std::map<std::string, const OptimizerRules*, std::less<>>& registry() {
  static std::map<std::string, const OptimizerRules*, std::less<>> all;
  return all;
}

}  // namespace

const OptimizerRules& rules_of(const Choice& optimizer) {
  const auto found = registry().find(optimizer.kind);
  if (found == registry().end()) throw std::logic_error("no bounds for the optimizer \"" + optimizer.kind + "\"");
  return *found->second;
}

RegisterOptimizerRules::RegisterOptimizerRules(std::string_view kind, const OptimizerRules& rules,
                                               std::source_location at) {
  registry().emplace(kind, &rules);
  note_registered(at);
}

}  // namespace tally::oracle
