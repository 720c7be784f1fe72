#include "kernels/training_step/merged_stages.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "kernels/trace/pipe_tag.hpp"
#include "kernels/trace/stage_place.hpp"
#include "oracle/case/pipeline.hpp"

namespace tally {
namespace {

enum Way { forward, back, added };

/// Where a tap stands: the taps of one pass of a part stand together.
struct Place {
  int window = 0, part_of_window = 0, micro_batch = -1, way = forward, part = 0;
  auto key() const { return std::tuple(window, part_of_window, micro_batch, way, part); }
};

bool goes_back(std::string_view stage, std::string_view tensor) {
  if (stage == "send") return tensor.starts_with("in.d.");
  if (stage == "receive") return tensor.starts_with("d.");
  return stage == "loss" || stage == "backward" || stage == "fork";
}

Place place_of(const Case& c, const TapName& name, int part) {
  Place at{name.window, part_of_window(name.stage, name.tensor), name.micro_batch, forward, part};
  if (name.micro_batch < 0) return at;
  at.way = name.stage == "accumulate" ? added : goes_back(name.stage, name.tensor) ? back : forward;
  if (at.way == forward) return at;
  at.part = -part;
  const auto count = static_cast<int>(c.windows[static_cast<std::size_t>(name.window)].size());
  if (goes_back_last_first(c)) at.micro_batch = 2 * count - 1 - name.micro_batch;  // behind all that go forward
  return at;
}

}  // namespace

Trace merged_stages(const Case& c, std::vector<Trace> traces) {
  Trace all;
  all.claims = traces.front().claims;
  all.groups = traces.front().groups;
  all.case_hash = traces.front().case_hash;
  struct Placed {
    Place at;
    Tap tap;
  };
  std::vector<Placed> placed;
  for (Trace& trace : traces) {
    all.claims.kernels.insert(trace.claims.kernels.begin(), trace.claims.kernels.end());  // of layers that it alone has
    for (const StageGroup& group : trace.groups)
      if (std::ranges::find(all.groups, group) == all.groups.end()) all.groups.push_back(group);
    for (std::string& violation : trace.violations)
      if (std::ranges::find(all.violations, violation) == all.violations.end())
        all.violations.push_back(std::move(violation));
    for (Tap& tap : std::move(trace).take_taps()) {
      const Place at = place_of(c, tap.name, part_of_tap(c, tap.name));
      placed.push_back({at, std::move(tap)});
    }
  }
  std::ranges::stable_sort(placed, {}, [](const Placed& each) { return each.at.key(); });
  for (Placed& each : placed) all.add(std::move(each.tap.name), std::move(each.tap.value));
  return all;
}

}  // namespace tally
