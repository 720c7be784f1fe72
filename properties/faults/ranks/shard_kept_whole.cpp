// Each rank keeps the whole of the sums of gradients beside the piece that it keeps of them.
#include <map>
#include <vector>

#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::shard_kept_whole_fault {
namespace {

std::vector<DeviceTensor>& kept_by(const Run& run) {
  static thread_local std::map<int, std::vector<DeviceTensor>> kept;
  return kept[rank(run)];
}

void begin_window(Run& run) {
  stage::begin_window(run);
  kept_by(run).clear();
  for (const Parameter& parameter : run.parameters)
    if (shards_gradients(run.c) && ranks(run) > 1)
      kept_by(run).emplace_back(run.device, "buffer of " + parameter.name, run.c.precision.accumulate,
                                parameter.copy.shape);
}

void end_window(Run& run) {
  kept_by(run).clear();
  stage::end_window(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "shard-kept-whole",
    .stage = "reduce",
    .right = "each rank holds its piece of the sums",
    .wrong = "and the whole beside it",
    .condition = "sharded gradients",
    .knob = "none",
    .source = "pytorch 160320",
    .laws = {"shards_share_memory"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::shard_kept_whole_fault
