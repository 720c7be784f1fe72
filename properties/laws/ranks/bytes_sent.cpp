#include "properties/laws/ranks/bytes_sent.hpp"

namespace tally {

std::uint64_t bytes_sent(const TrafficScope& scope, std::size_t process, int window, const std::string& stage) {
  const auto own = scope.ranks().find(static_cast<int>(process));
  if (own == scope.ranks().end()) return 0;
  const auto found = own->second.find("w" + std::to_string(window) + "/" + stage);
  return found == own->second.end() ? 0 : found->second;
}

std::uint64_t all_bytes_sent(const Case& c, const RunOptions& subject) {
  const TrafficScope scope;
  run(c, subject);
  std::uint64_t all = 0;
  for (const auto& [process, traffic] : scope.ranks())
    for (const auto& [stage, bytes] : traffic) all += bytes;
  return all;
}

}  // namespace tally
