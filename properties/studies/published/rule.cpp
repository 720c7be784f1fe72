#include "properties/studies/published/rule.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::string, PublishedRule, std::less<>>& registry() {
  static std::map<std::string, PublishedRule, std::less<>> all;
  return all;
}
}  // namespace

RegisterRule::RegisterRule(PublishedRule rule, std::source_location at) {
  note_registered(at);
  registry().emplace(rule.name, std::move(rule));
}

std::vector<const PublishedRule*> published_rules() {
  std::vector<const PublishedRule*> all;
  for (const auto& [name, rule] : registry()) all.push_back(&rule);
  return all;
}

const PublishedRule* find_rule(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

}  // namespace tally
