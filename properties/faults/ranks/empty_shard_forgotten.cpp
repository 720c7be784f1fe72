// The pieces of a parameter are counted off rank by rank, and those of ranks that have none are forgotten: a rank
// behind them reads the piece of another one behind it, and zeros where there is none.
#include "kernels/training_step/shards.hpp"
#include "properties/faults/ranks/planted_on_checkpoint.hpp"

namespace tally::empty_shard_forgotten_fault {
namespace {

/// The piece that each rank has of a parameter, of no element where it has none.
std::vector<RankPiece> pieces_of(const Run& run, std::size_t parameter) {
  std::vector<RankPiece> all;
  for (const auto& pieces : run.pieces) {
    RankPiece& own = all.emplace_back(RankPiece{parameter, 0, 0});
    for (const RankPiece& piece : pieces)
      if (piece.parameter == parameter) own = piece;
  }
  return all;
}

void load_checkpoint(Run& run, const Checkpoint& from) {
  Checkpoint shifted = from;
  for (std::size_t i = 0; i < run.shards.size(); ++i) {
    const RankPiece own = run.own_pieces()[i];
    const std::vector<RankPiece> all = pieces_of(run, own.parameter);
    const auto rank = static_cast<std::size_t>(sharers_of(run).rank());
    std::size_t empty = 0;
    for (std::size_t r = 0; r < rank; ++r) empty += all[r].count == 0;
    if (empty == 0) continue;
    const RankPiece read = rank + empty < all.size() ? all[rank + empty] : RankPiece{own.parameter, 0, 0};
    for (const std::string& kind : kinds_of(run, from)) {
      const std::string name = kind + run.shards[i].name;
      const Tensor& written = from.tensors.at(name);
      for (std::int64_t e = 0; e < own.count; ++e)
        misread(shifted.tensors.at(name), own.first + e,
                e < read.count ? written.value(static_cast<std::size_t>(read.first + e)) : 0);
    }
  }
  stage::load_checkpoint(run, shifted);
}

const RegisterFault registered{{
    .name = "empty-shard-forgotten",
    .stage = "checkpoint",
    .right = "a rank may have no piece of a parameter",
    .wrong = "ranks without one are not counted, and those behind them read another's piece",
    .condition = "the number of ranks changes; a sharded optimizer; a rank without a piece of a parameter in front",
    .knob = "value",
    .source = "pytorch 108869, Megatron-LM 6191",
    .laws = {"ranks_may_change"},
    .stages = replaced_load<load_checkpoint>,
}};

}  // namespace
}  // namespace tally::empty_shard_forgotten_fault
