#include "properties/laws/designed.hpp"

#include <set>

namespace tally {
namespace {
std::set<std::string, std::less<>>& registry() {
  static std::set<std::string, std::less<>> all;
  return all;
}
}  // namespace

RegisterDesigned::RegisterDesigned(const std::string& law) { registry().insert(law); }

bool is_designed(std::string_view law) { return registry().contains(law); }

}  // namespace tally
