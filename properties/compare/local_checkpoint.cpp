// Where the number of ranks changes: what they write down is what their last window left, and what the next ones take
// up has its bits. All of it is copies, whatever pieces each keeps.
#include "oracle/case/generations.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/shards.hpp"
#include "properties/compare/checkpoint.hpp"

namespace tally {
namespace {

const char* const between_windows = "checkpoint";

/// A tensor of the optimizer: the subject's, or the zeros that it begins with; nothing where it begins with a gradient
/// that has not come.
void check_left_state(LocalWalk& walk, const std::string& p, const StateTensor& of, const Tensor* known) {
  const std::string handed = "in." + of.name + "." + p;
  if (known == nullptr && !walk.state.stepped) {
    if (of.begins_with_gradient) return;
    const Tensor zeros = walk.zeros(p, walk.c.precision.master);
    walk.handed(between_windows, handed, &zeros);
    return;
  }
  walk.handed(between_windows, handed, known);
}

/// What all ranks hold alike.
void check_left_by_first(LocalWalk& walk) {
  for (const std::string& label : moved_layers(walk.layers)) {
    walk.handed(between_windows, "in." + label + ".running_mean", walk.state.running_mean[label]);
    walk.handed(between_windows, "in." + label + ".running_var", walk.state.running_var[label]);
  }
  if (checks_overflow(walk.c.recipe.loss_scale)) {
    walk.handed(between_windows, "in.scale", walk.tap("scaler", "scale"));
    walk.handed(between_windows, "in.growth_counter", walk.tap("scaler", "growth_counter"));
  }
  walk.handed(between_windows, "in.step", walk.tap("schedule", "step"));
}

/// What the ranks before wrote down of it; nullptr where that is not tapped.
const Tensor* left(const LocalWalk& walk, const std::string& name) {
  const std::string tensor = "in." + name;
  return walk.trace.find(TapView{walk.window - 1, -1, between_windows, tensor});
}

/// What this rank goes on from.
const Tensor* taken(LocalWalk& walk, const std::string& name) {
  const Tensor* from = left(walk, name);
  if (from == nullptr) return walk.require_tap(between_windows, name);
  if (walk.passes_over(between_windows, name)) return from;
  const Tensor* tap = walk.tap(between_windows, name);
  if (from->dtype == Dtype::i64) return walk.handed(between_windows, name, from);
  if (tap != nullptr && tap->elements() != from->elements()) return walk.handed(between_windows, name, from);
  return walk.check_bits(between_windows, name, [&] { return oracle::floats_of(*from); });
}

void take_scale(LocalWalk& walk) {
  const Tensor *scale = taken(walk, "scale"), *counter = taken(walk, "growth_counter");
  if (scale != nullptr) walk.state.scale.scale = oracle::as_read(*scale);
  if (counter != nullptr) walk.state.scale.growth_counter = counter->integer(0);
}

}  // namespace

std::vector<std::string> moved_layers(const std::vector<LayerView>& layers) {
  std::vector<std::string> labels;
  for (const LayerView& layer : layers)
    if (layer.layer->kind == "batch_norm" && layer.layer->text("statistics") != "frozen") labels.push_back(layer.label);
  return labels;
}

void check_left_checkpoint(LocalWalk& walk) {
  if (!leaves_checkpoint(walk.c, static_cast<std::size_t>(walk.window))) return;
  const std::size_t writers = shards_optimizer(walk.c) ? sharers_of(walk.c) : 1;
  if (walk.c.rank >= writers) return;
  const auto state = state_of(walk.c.recipe.optimizer);
  for (const std::string& p : walk.parameters) {
    walk.handed(between_windows, "in." + p, walk.state.parameter[p]);
    for (std::size_t i = 0; i < state.size(); ++i) check_left_state(walk, p, *state[i], walk.state.optimizer.at(p)[i]);
  }
  if (walk.c.rank == 0) check_left_by_first(walk);
}

void check_taken_checkpoint(LocalWalk& walk) {
  if (!begins_from_checkpoint(walk.c, static_cast<std::size_t>(walk.window))) return;
  walk.micro_batch = -1;
  const auto state = state_of(walk.c.recipe.optimizer);
  bool any = false, all = true;
  for (const std::string& p : walk.parameters) {
    walk.state.parameter[p] = taken(walk, p);
    for (std::size_t i = 0; i < state.size(); ++i) {
      const std::string name = state[i]->name + "." + p;
      const bool begun = left(walk, name) != nullptr || walk.tap(between_windows, name) != nullptr;
      walk.state.optimizer.at(p)[i] = begun ? taken(walk, name) : nullptr;
      any = any || begun;
    }
    all = all && walk.state.parameter[p] != nullptr;
  }
  walk.state.stepped = any || !all;  // else none has begun
  for (const std::string& label : moved_layers(walk.layers)) {
    walk.state.running_mean[label] = taken(walk, label + ".running_mean");
    walk.state.running_var[label] = taken(walk, label + ".running_var");
  }
  if (checks_overflow(walk.c.recipe.loss_scale)) take_scale(walk);
  if (const Tensor* step = taken(walk, "step")) walk.state.step = step->integer(0);
}

}  // namespace tally
