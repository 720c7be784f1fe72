// Every rank takes what its own layout keeps, by name and place: the number of ranks that wrote it does not matter.
#include "kernels/training_step/checkpoint.hpp"
#include "kernels/training_step/offload.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/shards.hpp"

namespace tally {
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
      write(there, state.tensor, saved->second, piece.first, piece.count);
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
