#include "kernels/trace/stage_group.hpp"

#include <algorithm>
#include <ranges>
#include <sstream>
#include <stdexcept>

#include "oracle/case/file/json.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {
namespace {

// The graph of a window has the same, behind those that are in no group.
static_assert(std::ranges::equal(stages_in_order, stage_names | std::views::drop(2)));

auto place_of(std::string_view stage) { return std::ranges::find(stages_in_order, stage) - stages_in_order.begin(); }

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
  if (place_of(group.first) > place_of(group.last)) {
    throw std::runtime_error("group '" + named(line) + "': expected the earlier stage first");
  }
  return group;
}

}  // namespace

bool StageGroup::holds(std::string_view stage) const {
  return exists(stage) && place_of(first) <= place_of(stage) && place_of(stage) <= place_of(last);
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
