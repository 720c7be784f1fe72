#include "properties/laws/any_case.hpp"

#include <set>

namespace tally {
namespace {
std::set<std::string, std::less<>>& registry() {
  static std::set<std::string, std::less<>> all;
  return all;
}
}  // namespace

RegisterAnyCase::RegisterAnyCase(const std::string& law) { registry().insert(law); }

bool judges_any_case(std::string_view law) { return registry().contains(law); }

}  // namespace tally
