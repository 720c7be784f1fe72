// What a pipeline does in another order than one process: micro-batches that go back last first, and a norm over stages.
#include "oracle/case/pipeline.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/compare/end_to_end_walk.hpp"

namespace tally {

using oracle::Expected;

void add_last_first(EndToEndWalk& walk) {
  for (std::size_t k = walk.of_each.size(); k-- > 0;) {
    walk.micro_batch = static_cast<int>(k);
    if (walk.departure != nullptr) depart(walk, walk.of_each[k]);
    add_gradients(walk, walk.of_each[k]);
  }
  walk.micro_batch = -1;
}

Expected norm_over_stages(const EndToEndWalk& walk, const oracle::ExpectedTensors& gradients) {
  std::vector<oracle::ExpectedTensors> own(stages_of(walk.c));
  for (const std::string& p : walk.parameters) own[stage_with_tensor(walk.c, p)].emplace(p, gradients.at(p));
  oracle::PartsByStage<Expected> parts;
  for (const oracle::ExpectedTensors& each : own) parts.push_back({oracle::norm_part(walk.declared, walk.c, each)});
  return oracle::norm_of_parts(walk.c, parts);
}

}  // namespace tally
