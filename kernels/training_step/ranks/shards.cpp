#include "kernels/training_step/ranks/shards.hpp"

#include <algorithm>
#include <utility>

#include "kernels/ranks/buckets.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/offload.hpp"
#include "oracle/case/sharding.hpp"

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

DeviceTensor piece_of(Device& on, const std::string& name, const Tensor& whole, const RankPiece& piece) {
  Tensor part(whole.dtype, {piece.count});
  const std::size_t width = size_of(whole.dtype);
  std::copy_n(whole.bytes.begin() + static_cast<std::ptrdiff_t>(piece.first) * static_cast<std::ptrdiff_t>(width),
              part.bytes.size(), part.bytes.begin());
  return DeviceTensor(on, name, part);
}

/// Where several groups keep the same: this rank's, and those who keep what it keeps.
void add_groups(Run& run) {
  Link& all = *run.options.link;
  const auto replicas = static_cast<int>(replicas_of(run.c));
  if (replicas == 1) return;
  const int sharers = all.size() / replicas, own = all.rank() % sharers;
  run.sharers = std::make_shared<GroupLink>(all, all.rank() - own, 1, sharers);
  run.replicas = std::make_shared<GroupLink>(all, own, sharers, replicas);
}

/// The pieces that the chunks of all buckets cut out of the parameters, sharer by sharer.
std::vector<std::vector<RankPiece>> pieces_of_all(Run& run) {
  const auto ranks = static_cast<std::size_t>(sharers_of(run).size());
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements);
  std::vector<std::vector<RankPiece>> all(ranks);
  for (const Bucket& bucket : buckets_of(run.c, static_cast<std::size_t>(run.options.link->size()), sizes)) {
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

/// The case's, or zeros.
KeptState state_of_piece(Run& run, const StateTensor* of, const std::string& parameter, const RankPiece& piece) {
  const std::string name = of->name + "." + parameter;
  if (const auto given = run.c.tensors.find(name); given != run.c.tensors.end())
    return {of, piece_of(step_device(run), step_name(run.c, name), given->second, piece), true};
  DeviceTensor zeros(step_device(run), step_name(run.c, name), run.c.precision.master, {piece.count});
  zeros.zero();
  return {of, std::move(zeros), !of->begins_with_gradient};
}

/// Whatever is kept of a piece alone: nothing of it is ever there whole.
Parameter shard_of(Run& run, const Parameter& whole, const RankPiece& piece) {
  const auto make = [&](const char* what, Dtype format) {
    return DeviceTensor(run.device, what + whole.name, format, {piece.count});
  };
  const Dtype format = run.c.precision.accumulate;
  Parameter shard;
  shard.name = whole.name;
  shard.elements = piece.count;
  shard.decays = whole.decays;
  shard.master = piece_of(run.device, whole.name, run.c.tensors.at(whole.name), piece);
  if (shards_parameters(run.c)) shard.copy = make("copy of ", whole.copy.dtype);
  shard.buffer = make("buffer of ", format);
  if (shards_gradients(run.c)) {
    shard.reduced = make("buffer of ranks of ", format);
    if (run.kernels.claim("accumulate").algorithm == "kahan") shard.compensation = make("compensation of ", format);
  }
  shard.unscaled = DeviceTensor(step_device(run), step_name(run.c, "unscaled gradient of " + whole.name), Dtype::fp32,
                                {piece.count});
  for (const StateTensor* each : state_of(run.c.recipe.optimizer))
    shard.state.push_back(state_of_piece(run, each, whole.name, piece));
  return shard;
}

}  // namespace

void add_shards(Run& run) {
  if (run.options.link == nullptr || !shards_optimizer(run.c)) return;
  add_groups(run);
  run.pieces = pieces_of_all(run);
  for (const RankPiece& piece : run.own_pieces())
    run.shards.push_back(shard_of(run, run.parameters[piece.parameter], piece));
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
