// What ranks leave for those that train on after them: saved by those that keep it, and loaded by those that will.
#include "kernels/training_step/ranks/checkpoint.hpp"

#include <algorithm>
#include <utility>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/offload.hpp"
#include "kernels/training_step/ranks/shards.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/sharding.hpp"

namespace tally {

// Every piece is written once, by the first ranks that keep all of them together; what each rank has whole, by the
// first.

StateKeeper::StateKeeper(Run& run) : whole_(run) {
  if (run.host == nullptr) return;
  run.host->window = run.window;
  run.host->micro_batch = run.micro_batch;
  std::swap(run.trace, run.host->trace);
}

StateKeeper::~StateKeeper() {
  if (whole_.host != nullptr) std::swap(whole_.trace, whole_.host->trace);
}

Run& StateKeeper::run() const { return whole_.host == nullptr ? whole_ : *whole_.host; }

void put_together(const Checkpoint& part, Checkpoint& into) {
  for (const auto& [name, tensor] : part.tensors) {
    const auto [at, fresh] = into.tensors.try_emplace(name, tensor);
    for (std::size_t i = 0; !fresh && i < tensor.bytes.size(); ++i) at->second.bytes[i] |= tensor.bytes[i];
  }
}

bool keeps_pieces(const Run& run) { return !run.pieces.empty(); }

RankPiece kept_piece(const Run& run, std::size_t i) {
  if (keeps_pieces(run)) return run.own_pieces()[i];
  return {i, 0, run.parameters[i].elements};
}

namespace {

/// A piece's bits in their place among the whole tensor's.
void put(const Run& run, const std::string& name, const RankPiece& piece, const Tensor& bits, Checkpoint& into) {
  const auto [at, fresh] = into.tensors.try_emplace(name);
  const auto whole = [&] { return run.c.tensors.at(run.parameters[piece.parameter].name).shape; };
  if (fresh) at->second = Tensor(bits.dtype, keeps_pieces(run) ? whole() : bits.shape);
  std::ranges::copy(bits.bytes, at->second.bytes.data() + static_cast<std::size_t>(piece.first) * size_of(bits.dtype));
}

/// Parameters and the optimizer's state.
void save_parameters(Run& run, Checkpoint& into) {
  const StateKeeper keeper(run);
  const std::deque<Parameter>& kept = stepped_parameters(run);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const RankPiece piece = kept_piece(run, i);
    keeper.run().tap("checkpoint", "in." + kept[i].name, kept[i].master);
    put(run, kept[i].name, piece, kept[i].master.read(), into);
    for (const KeptState& state : kept[i].state) {
      if (!state.started) continue;
      const std::string name = state.of->name + "." + kept[i].name;
      keeper.run().tap("checkpoint", "in." + name, state.tensor);
      put(run, name, piece, state.tensor.read(), into);
    }
  }
}

void save_whole(Run& run, const std::string& name, const DeviceTensor& tensor, Checkpoint& into) {
  run.tap("checkpoint", "in." + name, tensor);
  into.tensors[name] = tensor.read();
}

/// What all ranks hold alike.
void save_shared(Run& run, Checkpoint& into) {
  for (const LayerState& layer : run.layers) {
    if (!layer.running_mean || layer.frozen) continue;
    save_whole(run, layer.label + ".running_mean", layer.running_mean, into);
    save_whole(run, layer.label + ".running_var", layer.running_var, into);
  }
  if (checks_overflow(run.c.recipe.loss_scale)) {
    save_whole(run, "scale", run.scale, into);
    save_whole(run, "growth_counter", run.growth_counter, into);
  }
  run.tap("checkpoint", "in.step", run.step);
  Tensor step(Dtype::i64, {});
  step.set_bits(0, static_cast<std::uint64_t>(run.step));
  into.tensors["step"] = std::move(step);
}

}  // namespace

namespace stage {

void save_checkpoint(Run& run, Checkpoint& into) {
  run.stream.synchronize();
  if (run.host != nullptr) run.host->stream.synchronize();
  const int rank = run.options.link->rank();
  const bool writes = keeps_pieces(run) ? rank < sharers_of(run).size() : rank == 0;
  if (writes) save_parameters(run, into);
  if (rank == 0) save_shared(run, into);
}

}  // namespace stage

// Every rank takes what its own layout keeps, by name and place: the number of ranks that wrote it does not matter.
namespace {

void write(const Run& to_run, const DeviceTensor& to, const Tensor& from, std::int64_t first, std::int64_t count) {
  const std::size_t width = size_of(from.dtype);
  to_run.device.write(to.data(), from.bytes.data() + static_cast<std::size_t>(first) * width,
                      static_cast<std::size_t>(count) * width);
}

void write_whole(const Run& to_run, const DeviceTensor& to, const Tensor& from) {
  write(to_run, to, from, 0, static_cast<std::int64_t>(from.elements()));
}

/// The parameters on the device: whole, and this rank's pieces where it keeps any.
void load_masters(Run& run, const Checkpoint& from) {
  for (Parameter& parameter : run.parameters) {
    if (!parameter.master) continue;  // of ranks that share the parameters: never whole
    write_whole(run, parameter.master, from.tensors.at(parameter.name));
    run.tap("checkpoint", parameter.name, parameter.master);
  }
  for (std::size_t i = 0; i < run.shards.size(); ++i) {
    const RankPiece piece = kept_piece(run, i);
    write(run, run.shards[i].master, from.tensors.at(run.shards[i].name), piece.first, piece.count);
    if (shards_parameters(run.c)) run.tap("checkpoint", run.shards[i].name, run.shards[i].master);
  }
}

/// What steps them.
void load_state(Run& run, const Checkpoint& from) {
  const StateKeeper keeper(run);
  Run& there = keeper.run();
  std::deque<Parameter>& kept = run.host != nullptr ? there.parameters
                                : keeps_pieces(run) ? run.shards
                                                    : run.parameters;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const RankPiece piece = kept_piece(run, i);
    if (run.host != nullptr) write(there, kept[i].master, from.tensors.at(kept[i].name), piece.first, piece.count);
    for (KeptState& state : kept[i].state) {
      const std::string name = state.of->name + "." + kept[i].name;
      const auto saved = from.tensors.find(name);
      if (saved == from.tensors.end()) continue;
      if (keeps_pieces(run))
        write(there, state.tensor, saved->second, piece.first, piece.count);
      else
        write_whole(there, state.tensor, saved->second);
      state.started = true;
      there.tap("checkpoint", name, state.tensor);
    }
  }
}

void load_whole(Run& run, const std::string& name, const DeviceTensor& tensor, const Checkpoint& from) {
  write_whole(run, tensor, from.tensors.at(name));
  run.tap("checkpoint", name, tensor);
}

void load_shared(Run& run, const Checkpoint& from) {
  for (const LayerState& layer : run.layers) {
    if (!layer.running_mean || layer.frozen) continue;
    load_whole(run, layer.label + ".running_mean", layer.running_mean, from);
    load_whole(run, layer.label + ".running_var", layer.running_var, from);
  }
  if (checks_overflow(run.c.recipe.loss_scale)) {
    load_whole(run, "scale", run.scale, from);
    load_whole(run, "growth_counter", run.growth_counter, from);
  }
  run.step = from.tensors.at("step").integer(0);
  run.tap("checkpoint", "step", run.step);
}

}  // namespace

namespace stage {

void load_checkpoint(Run& run, const Checkpoint& from) {
  load_masters(run, from);
  load_state(run, from);
  load_shared(run, from);
}

}  // namespace stage
}  // namespace tally
