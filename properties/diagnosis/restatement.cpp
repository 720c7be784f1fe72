#include "properties/diagnosis/restatement.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::string, Restatement, std::less<>>& known() {
  static std::map<std::string, Restatement, std::less<>> all;
  return all;
}
}  // namespace

RegisterRestatement::RegisterRestatement(Restatement restatement, std::source_location at) {
  note_registered(at);
  known().emplace(restatement.name, std::move(restatement));
}

std::vector<const Restatement*> restatements() {
  std::vector<const Restatement*> all;
  for (const auto& [name, restatement] : known()) all.push_back(&restatement);
  return all;
}

const Restatement* find_restatement(std::string_view name) {
  const auto found = known().find(name);
  return found == known().end() ? nullptr : &found->second;
}

}  // namespace tally
