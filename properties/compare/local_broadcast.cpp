#include "oracle/case/ranks.hpp"
#include "oracle/case/running_values.hpp"
#include "properties/compare/broadcast.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

void check_handed_over(LocalWalk& walk, const std::string& name, const Tensor*& state) {
  const std::string stage = "running_stats", handed = "in.broadcast." + name, held = "broadcast." + name;
  if (walk.c.rank == 0) walk.handed(stage, handed, state);
  const Tensor* first = handed_over(walk.trace, ranks_of(whole_of(walk.c)), 0, walk.window, -1, stage, handed);
  if (walk.passes_over(stage, held)) {
    if (walk.c.rank > 0) state = first;
    return;
  }
  state = first == nullptr ? walk.require_tap(stage, held)
                           : walk.check_bits(stage, held, [&] { return oracle::floats_of(*first); });
}

}  // namespace

void check_broadcast(LocalWalk& walk) {
  for (const LayerView& layer : walk.layers) {
    if (!takes_first_running(walk.c, *layer.layer)) continue;
    check_handed_over(walk, layer.label + ".running_mean", walk.state.running_mean[layer.label]);
    check_handed_over(walk, layer.label + ".running_var", walk.state.running_var[layer.label]);
  }
}

}  // namespace tally
