#include "properties/laws/law.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {

Outcome::Outcome() = default;
Outcome::Outcome(const Outcome&) = default;
Outcome::Outcome(Outcome&&) noexcept = default;
Outcome& Outcome::operator=(const Outcome&) = default;
Outcome& Outcome::operator=(Outcome&&) noexcept = default;
Outcome::~Outcome() = default;
namespace {
std::map<std::string, Law, std::less<>>& registry() {
  static std::map<std::string, Law, std::less<>> all;
  return all;
}
}  // namespace

RegisterLaw::RegisterLaw(Law law, std::source_location at) {
  note_registered(at);
  registry().emplace(law.name, std::move(law));
}

std::vector<const Law*> laws() {
  std::vector<const Law*> all;
  for (const auto& [name, law] : registry()) all.push_back(&law);
  return all;
}

const Law* find_law(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

}  // namespace tally
