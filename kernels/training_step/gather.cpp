// What each of several ranks keeps a piece of, handed to all: the updated parameters, and what the layers read.
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/shards.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/shards.hpp"

namespace tally::stage {
namespace {

using Held = DeviceTensor Parameter::*;

void send_pieces(Run& run, int to, const std::string& about, Held held) {
  for (const Parameter& shard : run.shards) {
    const Tensor bits = (shard.*held).read();
    sharers_of(run).send(to, about, {bits.bytes.data(), bits.bytes.size()});
  }
}

void receive_pieces(Run& run, int from, const std::string& about, Held held) {
  for (const RankPiece& piece : run.pieces[static_cast<std::size_t>(from)]) {
    DeviceTensor& whole = run.parameters[piece.parameter].*held;
    const std::size_t width = size_of(whole.dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(piece.count) * width);
    sharers_of(run).receive(from, about, bytes);
    run.device.write(whole.as<std::byte>() + static_cast<std::size_t>(piece.first) * width, bytes.data(), bytes.size());
  }
}

/// Every parameter's tensor put together of the pieces that the ranks hold.
void put_together(Run& run, const std::string& about, Held held) {
  const int own = sharers_of(run).rank(), ranks = sharers_of(run).size();
  for (int to = 0; to < ranks; ++to)
    if (to != own) send_pieces(run, to, about, held);
  for (int from = 0; from < ranks; ++from)
    if (from != own) receive_pieces(run, from, about, held);
  for (std::size_t i = 0; i < run.shards.size(); ++i) {
    const RankPiece& piece = run.own_pieces()[i];
    copy_elements(run, run.shards[i].*held, 0, run.parameters[piece.parameter].*held, piece.first, piece.count);
  }
}

}  // namespace

void gather_updated(Run& run) {
  if (run.pieces.empty() || shards_parameters(run.c)) return;
  for (const Parameter& shard : run.shards) run.tap("gather_updated", "in.shard." + shard.name, shard.master);
  put_together(run, "w" + std::to_string(run.window) + "/gather_updated", &Parameter::master);
  for (const Parameter& parameter : run.parameters) run.tap("gather_updated", parameter.name, parameter.master);
}

void all_gather(Run& run) {
  for (const Parameter& shard : run.shards) run.tap("all_gather", "in.shard." + shard.name, shard.copy);
  const std::string at = "w" + std::to_string(run.window) + "/m" + std::to_string(run.micro_batch);
  put_together(run, at + "/all_gather", &Parameter::copy);
  for (const Parameter& parameter : run.parameters)
    run.tap("all_gather", (run.behind_forward ? "again." : "") + parameter.name, parameter.copy);
}

}  // namespace tally::stage
