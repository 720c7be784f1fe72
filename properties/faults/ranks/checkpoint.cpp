// Faults of a checkpoint that ranks of another number load.
#include "kernels/training_step/ranks/shards.hpp"
#include "properties/faults/ranks/ranks.hpp"

// The padding of buckets is taken off where a checkpoint is written, and left in the offsets at which it is read:
// behind the first bucket each element comes from further on, and the last ones are zero.
namespace tally::checkpoint_offset_after_first_bucket_fault {
namespace {

/// All elements of one kind, bucket by bucket, as they are written.
std::vector<double> flat(const Run& run, const Checkpoint& from, const std::string& kind) {
  std::vector<double> all;
  for (const Bucket& bucket : buckets_of_run(run))
    for (const Bucket::Place& place : bucket.places) {
      const Tensor& tensor = from.tensors.at(kind + run.parameters[place.parameter].name);
      for (std::size_t i = 0; i < tensor.elements(); ++i) all.push_back(tensor.value(i));
    }
  return all;
}

void load_checkpoint(Run& run, const Checkpoint& from) {
  Checkpoint misplaced = from;
  for (const std::string& kind : kinds_of(run, from)) {
    const std::vector<double> written = flat(run, from, kind);
    std::int64_t at = 0, padding = 0;  // in front
    for (const Bucket& bucket : buckets_of_run(run)) {
      for (const Bucket::Place& place : bucket.places) {
        Tensor& tensor = misplaced.tensors.at(kind + run.parameters[place.parameter].name);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(tensor.elements()); ++i, ++at) {
          const auto read = static_cast<std::size_t>(at + padding);
          misread(tensor, i, read < written.size() ? written[read] : 0);
        }
      }
      padding += bucket.elements - held_by(run, bucket);
    }
  }
  stage::load_checkpoint(run, misplaced);
}

const RegisterFault registered{{
    .name = "checkpoint-offset-after-first-bucket",
    .right = "element i",
    .condition = "the number of ranks changes; a bucket behind one with padding",
    .knob = "value",
    .source = "Megatron-LM 5077",
    .laws = {"ranks_may_change"},
    .stages = replaced_load<load_checkpoint>,
}};

}  // namespace
}  // namespace tally::checkpoint_offset_after_first_bucket_fault

// The pieces of a parameter are counted off rank by rank, and those of ranks that have none are forgotten: a rank
// behind them reads the piece of another one behind it, and zeros where there is none.
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
    .right = "piece r",
    .condition = "the number of ranks changes; a sharded optimizer; a rank without a piece of a parameter in front",
    .knob = "value",
    .source = "pytorch 108869, Megatron-LM 6191",
    .laws = {"ranks_may_change"},
    .stages = replaced_load<load_checkpoint>,
}};

}  // namespace
}  // namespace tally::empty_shard_forgotten_fault

// Elements are loaded until as many were counted as there are, and a bucket's padding counts as well: its last
// elements, as many as it is padded by, stay what the rank was built with.
namespace tally::padding_counted_as_loaded_fault {
namespace {

/// What a rank is built with: the case's tensor, or zeros.
double built_with(const Run& run, const std::string& name, std::int64_t i) {
  const auto given = run.c.tensors.find(name);
  return given == run.c.tensors.end() ? 0 : given->second.value(static_cast<std::size_t>(i));
}

void load_checkpoint(Run& run, const Checkpoint& from) {
  Checkpoint partly = from;
  for (const std::string& kind : kinds_of(run, from)) {
    for (const Bucket& bucket : buckets_of_run(run)) {
      const std::int64_t held = held_by(run, bucket), loaded = held - (bucket.elements - held);
      for (const Bucket::Place& place : bucket.places) {
        const std::string name = kind + run.parameters[place.parameter].name;
        Tensor& tensor = partly.tensors.at(name);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(tensor.elements()); ++i)
          if (place.first + i >= loaded) misread(tensor, i, built_with(run, name, i));
      }
    }
  }
  stage::load_checkpoint(run, partly);
}

const RegisterFault registered{{
    .name = "padding-counted-as-loaded",
    .right = "all elements of a bucket",
    .condition = "the number of ranks changes; a bucket with padding",
    .knob = "value",
    .source = "Fast-LLM 439",
    .laws = {"ranks_may_change"},
    .stages = replaced_load<load_checkpoint>,
}};

}  // namespace
}  // namespace tally::padding_counted_as_loaded_fault
