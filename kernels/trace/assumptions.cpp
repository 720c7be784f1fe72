#include "kernels/trace/assumptions.hpp"

#include <sstream>

#include "oracle/case/json_form.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& trace_file, const std::string& key) {
  constexpr std::size_t longest = 400;
  const auto metadata = safetensors_metadata(trace_file);
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return {};
  std::vector<std::string> all;
  std::size_t more = 0;
  std::istringstream lines(entry->second);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (all.size() < most_assumptions) {
      all.push_back(shortened(line, longest));
    } else {
      ++more;
    }
  }
  if (more > 0) all.push_back("and " + std::to_string(more) + " more");
  return all;
}

}  // namespace

std::vector<std::string> assumptions_of(const std::filesystem::path& trace_file) {
  return lines_of(trace_file, "assumptions");
}

std::vector<std::string> seen_causes_of(const std::filesystem::path& trace_file) {
  return lines_of(trace_file, "seen");
}

}  // namespace tally
