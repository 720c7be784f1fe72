#include "properties/laws/any_case.hpp"

#include <set>

namespace tally {
namespace {
std::set<std::string, std::less<>>& laws_of_any_case() {
  static std::set<std::string, std::less<>> all;
  return all;
}
}  // namespace

RegisterAnyCase::RegisterAnyCase(const std::string& law) { laws_of_any_case().insert(law); }

bool judges_any_case(std::string_view law) { return laws_of_any_case().contains(law); }

}  // namespace tally
