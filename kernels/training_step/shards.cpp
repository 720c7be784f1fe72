#include "kernels/training_step/shards.hpp"

#include <algorithm>
#include <utility>

#include "kernels/ranks/buckets.hpp"
#include "kernels/ranks/link.hpp"
#include "oracle/case/shards.hpp"

namespace tally {

Link& sharers_of(Run& run) { return run.sharers ? *run.sharers : *run.options.link; }

void copy_elements(Run& run, const DeviceTensor& from, std::int64_t first, const DeviceTensor& to, std::int64_t at,
                   std::int64_t count) {
  const std::size_t width = size_of(from.dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * width);
  run.device.read(from.as<std::byte>() + static_cast<std::size_t>(first) * width, bytes.data(), bytes.size());
  run.device.write(to.as<std::byte>() + static_cast<std::size_t>(at) * width, bytes.data(), bytes.size());
}

namespace {

DeviceTensor piece_of(Run& run, const std::string& name, const DeviceTensor& whole, const RankPiece& piece) {
  DeviceTensor part(run.device, name, whole.dtype, {piece.count});
  copy_elements(run, whole, piece.first, part, 0, piece.count);
  return part;
}

/// The pieces that the chunks of all buckets cut out of the parameters, rank by rank.
std::vector<std::vector<RankPiece>> pieces_of_all(const Run& run, std::size_t ranks) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements);
  std::vector<std::vector<RankPiece>> all(ranks);
  for (const Bucket& bucket : buckets_of(run.c, ranks, sizes)) {
    const std::int64_t chunk = bucket.elements / static_cast<std::int64_t>(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (const Bucket::Place& place : bucket.places) {
        const std::int64_t begin = static_cast<std::int64_t>(rank) * chunk;
        const std::int64_t from = std::max(begin, place.first),
                           to = std::min(begin + chunk, place.first + sizes[place.parameter]);
        if (from < to) all[rank].push_back({place.parameter, from - place.first, to - from});
      }
  }
  for (auto& pieces : all) std::ranges::sort(pieces, {}, &RankPiece::parameter);
  return all;
}

Parameter shard_of(Run& run, Parameter& whole, const RankPiece& piece) {
  Parameter shard;
  shard.name = whole.name;
  shard.elements = piece.count;
  shard.decays = whole.decays;
  shard.master = piece_of(run, whole.name, whole.master, piece);
  if (shards_parameters(run.c))
    shard.copy = DeviceTensor(run.device, "copy of " + whole.name, whole.copy.dtype, {piece.count});
  shard.buffer = DeviceTensor(run.device, "buffer of " + whole.name, whole.buffer.dtype, {piece.count});
  if (shards_gradients(run.c)) {
    const Dtype format = whole.buffer.dtype;
    shard.reduced = DeviceTensor(run.device, "buffer of ranks of " + whole.name, format, {piece.count});
    if (whole.compensation)
      shard.compensation = DeviceTensor(run.device, "compensation of " + whole.name, format, {piece.count});
  }
  shard.unscaled = DeviceTensor(run.device, "unscaled gradient of " + whole.name, Dtype::fp32, {piece.count});
  for (KeptState& kept : whole.state)
    shard.state.push_back({kept.of, piece_of(run, kept.of->name + "." + whole.name, kept.tensor, piece), kept.started});
  return shard;
}

}  // namespace

void add_shards(Run& run) {
  if (run.options.link == nullptr || !shards_optimizer(run.c)) return;
  run.pieces = pieces_of_all(run, static_cast<std::size_t>(run.options.link->size()));
  for (const RankPiece& piece : run.own_pieces())
    run.shards.push_back(shard_of(run, run.parameters[piece.parameter], piece));
  for (Parameter& whole : run.parameters) {  // what is each rank's own, others do not keep
    whole.state.clear();
    whole.unscaled = {};
    if (shards_parameters(run.c)) whole.master = {};
    if (!shards_gradients(run.c)) continue;
    whole.buffer = {};
    whole.reduced = {};
    whole.compensation = {};
  }
}

OwnPieces::OwnPieces(Run& run) : run_(run) {
  if (run.pieces.empty()) return;
  for (std::size_t i = 0; i < run.shards.size() && !shards_gradients(run.c); ++i) {
    const RankPiece& piece = run.own_pieces()[i];
    copy_elements(run, run.parameters[piece.parameter].buffer, piece.first, run.shards[i].buffer, 0, piece.count);
  }
  run.parameters.swap(run.shards);
}

OwnPieces::~OwnPieces() {
  if (!run_.pieces.empty()) run_.parameters.swap(run_.shards);
}

}  // namespace tally
