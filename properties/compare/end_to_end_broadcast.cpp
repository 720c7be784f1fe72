#include "oracle/case/ranks.hpp"
#include "oracle/case/running_values.hpp"
#include "properties/compare/broadcast.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// What the first rank tapped of it, or this rank did; else any number.
Expected as_tapped(const EndToEndWalk& walk, const std::string& name, const Expected& shape) {
  const std::string stage = "running_stats";
  const Tensor* first =
      handed_over(walk.trace, ranks_of(whole_of(walk.c)), 0, walk.window, -1, stage, "in.broadcast." + name);
  if (first == nullptr) first = walk.tap(stage, "broadcast." + name);
  if (first != nullptr) return oracle::as_read(*first);
  Expected any = shape;
  any.e.setConstant(oracle::infinite);
  return any;
}

void hand_over(EndToEndWalk& walk, const std::string& name, Expected& state, const Expected* first) {
  Expected held = walk.c.rank == 0 ? state : first != nullptr ? *first : as_tapped(walk, name, state);
  state = walk.held("running_stats", "broadcast." + name, [&] { return held; });
}

}  // namespace

void expect_broadcast(EndToEndWalk& walk, const ExpectedState* first) {
  walk.micro_batch = -1;
  for (const LayerView& layer : walk.layers) {
    if (!takes_first_running(walk.c, *layer.layer)) continue;
    const std::string& label = layer.label;
    hand_over(walk, label + ".running_mean", walk.state.running_mean.at(label),
              first == nullptr ? nullptr : &first->running_mean.at(label));
    hand_over(walk, label + ".running_var", walk.state.running_var.at(label),
              first == nullptr ? nullptr : &first->running_var.at(label));
  }
}

}  // namespace tally
