// No rank hands its updated pieces to the others.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::updated_shard_not_gathered_fault {
namespace {

void gather_updated(Run& run) {
  if (run.pieces.empty() || shards_parameters(run.c)) return stage::gather_updated(run);
  std::vector<Tensor> before;
  for (const Parameter& parameter : run.parameters) before.push_back(parameter.master.read());
  stage::gather_updated(run);
  for (std::size_t p = 0; p < before.size(); ++p) {
    Parameter& parameter = run.parameters[p];
    std::int64_t first = 0, count = 0;
    for (const RankPiece& piece : run.own_pieces())
      if (piece.parameter == p) first = piece.first, count = piece.count;
    change(run, parameter.master, [&](std::size_t i, double value) {
      const auto at = static_cast<std::int64_t>(i);
      return at >= first && at < first + count ? value : blend(value, before[p].value(i));
    });
    run.tap("gather_updated", parameter.name, parameter.master);
  }
}

const RegisterFault registered{{
    .name = "updated-shard-not-gathered",
    .stage = "gather_updated",
    .right = "every rank has all updated parameters",
    .wrong = "each keeps its own update, and the others as they were",
    .condition = "several ranks that share the optimizer",
    .knob = "value",
    .source = "RamTorch PR 13",
    .laws = {"sharding_changes_nothing", "ranks_agree"},
    .stages = replaced<&Stages::gather_updated, gather_updated>,
}};

}  // namespace
}  // namespace tally::updated_shard_not_gathered_fault
