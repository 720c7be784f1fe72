// Where the number of ranks changes: what they write down is what their last window left, and what the next ones take
// up is what those wrote down, bit for bit where it is tapped. All of it is copies, whatever pieces each keeps.
#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;

const char* const between_windows = "checkpoint";

/// A tensor of the optimizer: the subject's, or the zeros that it begins with; nothing where it begins with a gradient
/// that has not come.
void check_left_state(Walk& walk, const std::string& p, const StateTensor& of, const Value& known) {
  const bool none_yet = !known.known() && !walk.state.stepped;
  const auto shape = shape_beside(of, walk.c.recipe.optimizer, walk.c.tensors.at(p).shape);
  if (!shape || (none_yet && of.begins_with_gradient)) return;
  const auto zeros = [&] { return walk.of_case({walk.c.precision.master, *shape}); };
  walk.input(between_windows, "in." + of.name + "." + p, none_yet ? zeros() : known);
}

/// What all ranks hold alike.
void check_left_by_first(Walk& walk) {
  for (const std::string& label : moved_layers(walk.layers)) {
    walk.input(between_windows, "in." + label + ".running_mean", walk.state.running_mean[label]);
    walk.input(between_windows, "in." + label + ".running_var", walk.state.running_var[label]);
  }
  if (checks_overflow(walk.c.recipe.loss_scale)) {
    walk.input(between_windows, "in.scale", walk.left("scaler", "scale"));
    walk.input(between_windows, "in.growth_counter", walk.left("scaler", "growth_counter"));
  }
  walk.input(between_windows, "in.step", walk.left("schedule", "step"));
}

/// What the ranks before wrote down of it; nullptr where that is not tapped.
const Tensor* written(const Walk& walk, const std::string& name) {
  const std::string tensor = "in." + name;
  return walk.trace.find(TapView{walk.window - 1, -1, between_windows, tensor});
}

/// What this rank goes on from.
Value taken(Walk& walk, const std::string& name) {
  const Tensor* from = written(walk, name);
  if (from == nullptr) return walk.require_tap(between_windows, name);
  if (walk.passes_over(between_windows, name)) return from;
  const Tensor* tap = walk.tap(between_windows, name);
  const bool whole = from->dtype == Dtype::i64 || (tap != nullptr && tap->elements() != from->elements());
  if (whole) return walk.input(between_windows, name, from);
  return walk.exact_output(between_windows, name, [&] { return oracle::floats_of(*from); }, {});
}

void check_taken(Walk& walk) {
  const auto state = state_of(walk.c.recipe.optimizer);
  bool any = false, all = true;
  for (const std::string& p : walk.parameters) {
    walk.state.parameter[p] = taken(walk, p);
    for (std::size_t i = 0; i < state.size(); ++i) {
      const std::string name = state[i]->name + "." + p;
      const bool begun = written(walk, name) != nullptr || walk.tap(between_windows, name) != nullptr;
      walk.state.optimizer.at(p)[i] = begun ? taken(walk, name) : Value();
      any = any || begun;
    }
    all = all && walk.state.parameter[p].known();
  }
  walk.state.stepped = any || !all;  // else none has begun
  for (const std::string& label : moved_layers(walk.layers)) {
    walk.state.running_mean[label] = taken(walk, label + ".running_mean");
    walk.state.running_var[label] = taken(walk, label + ".running_var");
  }
  if (checks_overflow(walk.c.recipe.loss_scale)) {
    const Value scale = taken(walk, "scale"), counter = taken(walk, "growth_counter");
    if (scale.known()) walk.state.scale.scale = *scale.read();
    if (counter.known()) walk.state.scale.growth_counter = counter.bits()->integer(0);
  }
  if (const Value step = taken(walk, "step"); step.known()) walk.state.step = step.bits()->integer(0);
}

/// What this rank tapped of it, or those before as they wrote it down.
const Tensor* tapped(const Walk& walk, const std::string& name) {
  const Tensor* own = walk.tap(between_windows, name);
  return own != nullptr ? own : written(walk, name);
}

/// Any number where it is not known.
Value as_begun(const Walk& walk, const std::string& name, const Value& shape) {
  if (const Tensor* known = tapped(walk, name)) return oracle::as_read(*known);
  Expected any = *shape.read();
  any.e.setConstant(oracle::infinite);
  return any;
}

/// All of it, by what was tapped alone.
WindowState state_as_tapped(const Walk& walk) {
  WindowState state = walk.state;
  const auto kept = state_of(walk.c.recipe.optimizer);
  for (const std::string& p : walk.parameters) {
    state.parameter[p] = as_begun(walk, p, state.parameter[p]);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Tensor* begun = tapped(walk, kept[i]->name + "." + p);
      state.optimizer[p][i] = begun == nullptr ? Value() : Value(oracle::as_read(*begun));
    }
  }
  for (const std::string& label : moved_layers(walk.layers)) {
    state.running_mean[label] = as_begun(walk, label + ".running_mean", state.running_mean[label]);
    state.running_var[label] = as_begun(walk, label + ".running_var", state.running_var[label]);
  }
  state.scale.scale = *as_begun(walk, "scale", state.scale.scale).read();
  if (const Tensor* counter = tapped(walk, "growth_counter")) state.scale.growth_counter = counter->integer(0);
  if (const Tensor* step = tapped(walk, "step")) state.step = step->integer(0);
  state.state_from_zero = false;
  return state;
}

void hold(Walk& walk, const std::string& name, Value& value) {
  if (walk.tap(between_windows, name) != nullptr) value = walk.output(between_windows, name, *value.read());
}

void expect_taken(Walk& walk) {
  const auto kept = state_of(walk.c.recipe.optimizer);
  for (const std::string& p : walk.parameters) {
    hold(walk, p, walk.state.parameter[p]);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (walk.state.optimizer[p][i].known()) hold(walk, kept[i]->name + "." + p, walk.state.optimizer[p][i]);
  }
  for (const std::string& label : moved_layers(walk.layers)) {
    hold(walk, label + ".running_mean", walk.state.running_mean[label]);
    hold(walk, label + ".running_var", walk.state.running_var[label]);
  }
  if (checks_overflow(walk.c.recipe.loss_scale)) {
    Value scale = walk.state.scale.scale;
    hold(walk, "scale", scale);
    walk.state.scale.scale = *scale.read();
    Value counter = oracle::scalar(static_cast<long double>(walk.state.scale.growth_counter));
    hold(walk, "growth_counter", counter);
  }
  Value step = oracle::scalar(static_cast<long double>(walk.state.step));
  hold(walk, "step", step);
}

}  // namespace

std::vector<std::string> moved_layers(const std::vector<LayerView>& layers) {
  std::vector<std::string> labels;
  for (const LayerView& layer : layers)
    if (layer.layer->kind == kinds::batch_norm && layer.layer->text("statistics") != "frozen")
      labels.push_back(layer.label);
  return labels;
}

void walk_left_checkpoint(Walk& walk) {
  if (!leaves_checkpoint(walk.c, static_cast<std::size_t>(walk.window))) return;
  const std::size_t writers = shards_optimizer(walk.c) ? sharers_of(walk.c) : 1;
  if (walk.c.rank >= writers) return;
  const auto state = state_of(walk.c.recipe.optimizer);
  for (const std::string& p : walk.parameters) {
    walk.input(between_windows, "in." + p, walk.state.parameter[p]);
    for (std::size_t i = 0; i < state.size(); ++i) check_left_state(walk, p, *state[i], walk.state.optimizer.at(p)[i]);
  }
  if (walk.c.rank == 0) check_left_by_first(walk);
}

void walk_taken_checkpoint(Walk& walk, const LeftBehind* before) {
  if (!begins_from_checkpoint(walk.c, static_cast<std::size_t>(walk.window))) return;
  walk.micro_batch = -1;
  if (walk.is_local()) return check_taken(walk);
  if (before == nullptr) {
    walk.state = state_as_tapped(walk);
  } else {
    walk.state = before->state;
    walk.count_before = before->count;
    walk.ended = before->ended;
  }
  if (!walk.ended) expect_taken(walk);
}

}  // namespace tally
