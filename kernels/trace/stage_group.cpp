#include "kernels/trace/stage_group.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "oracle/case/file/json.hpp"

namespace tally {
namespace {

bool exists(std::string_view stage) { return std::ranges::count(stages_in_order, stage) > 0; }

StageGroup group_of(const std::string& line) {
  const auto dots = line.find("..");
  if (dots == std::string::npos) {
    throw std::runtime_error("group '" + named(line) + "': expected two stages, 'unscale..optimizer'");
  }
  StageGroup group{line.substr(0, dots), line.substr(dots + 2)};
  for (const std::string& stage : {group.first, group.last}) {
    if (!exists(stage))
      throw std::runtime_error("group '" + named(line) + "': no stage is named '" + named(stage) + "'");
  }
  if (place_of_stage(group.first) > place_of_stage(group.last)) {
    throw std::runtime_error("group '" + named(line) + "': expected the earlier stage first");
  }
  return group;
}

}  // namespace

bool StageGroup::holds(std::string_view stage) const {
  const auto place = place_of_stage(stage);
  return exists(stage) && place_of_stage(first) <= place && place <= place_of_stage(last);
}

std::vector<StageGroup> stage_groups_of(std::string_view lines) {
  std::vector<StageGroup> groups;
  std::istringstream text{std::string(lines)};
  for (std::string line; std::getline(text, line);) {
    const StageGroup group = group_of(line);
    for (const StageGroup& other : groups) {
      if (other.holds(group.first) || group.holds(other.first)) {
        throw std::runtime_error("group '" + named(line) + "': shares a stage with '" + other.text() + "'");
      }
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace tally
