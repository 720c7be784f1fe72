#include "properties/laws/designed.hpp"

#include <set>

namespace tally {
namespace {
std::set<std::string, std::less<>>& designed_laws() {
  static std::set<std::string, std::less<>> all;
  return all;
}
}  // namespace

RegisterDesigned::RegisterDesigned(const std::string& law) { designed_laws().insert(law); }

bool is_designed(std::string_view law) { return designed_laws().contains(law); }

}  // namespace tally
