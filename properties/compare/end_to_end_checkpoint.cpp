#include "oracle/case/generations.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "properties/compare/checkpoint.hpp"

namespace tally {
namespace {

using oracle::Expected;

const std::string kept_stage = "checkpoint";

/// What this rank tapped of it, or those before as they wrote it down.
const Tensor* tapped(const EndToEndWalk& walk, const std::string& name) {
  if (const Tensor* own = walk.tap(kept_stage, name)) return own;
  return walk.trace.find(TapName{walk.window - 1, -1, kept_stage, "in." + name}.view());
}

/// Any number where it is not known.
Expected as_begun(const EndToEndWalk& walk, const std::string& name, const Expected& shape) {
  if (const Tensor* known = tapped(walk, name)) return oracle::as_read(*known);
  Expected any = shape;
  any.e.setConstant(oracle::infinite);
  return any;
}

/// All of it, by what was tapped alone.
ExpectedState state_as_tapped(const EndToEndWalk& walk) {
  ExpectedState state = walk.state;
  const auto kept = state_of(walk.c.recipe.optimizer);
  for (const std::string& p : walk.parameters) {
    ExpectedState::Slot& slot = state.slots[p];
    slot.parameter = as_begun(walk, p, slot.parameter);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Tensor* begun = tapped(walk, kept[i]->name + "." + p);
      slot.state[i] = begun == nullptr ? Expected{} : oracle::as_read(*begun);
    }
  }
  for (const std::string& label : moved_layers(walk.layers)) {
    state.running_mean[label] = as_begun(walk, label + ".running_mean", state.running_mean[label]);
    state.running_var[label] = as_begun(walk, label + ".running_var", state.running_var[label]);
  }
  state.scale.scale = as_begun(walk, "scale", state.scale.scale);
  if (const Tensor* counter = tapped(walk, "growth_counter")) state.scale.growth_counter = counter->integer(0);
  if (const Tensor* step = tapped(walk, "step")) state.step = step->integer(0);
  state.state_from_zero = false;
  return state;
}

void hold(EndToEndWalk& walk, const std::string& name, Expected& expected) {
  if (walk.tap(kept_stage, name) == nullptr) return;
  const Expected left = expected;
  expected = walk.held(kept_stage, name, [&] { return left; });
}

}  // namespace

void expect_checkpoint(EndToEndWalk& walk, const LeftBehind* before) {
  if (!begins_from_checkpoint(walk.c, static_cast<std::size_t>(walk.window))) return;
  walk.micro_batch = -1;
  if (before == nullptr) {
    walk.state = state_as_tapped(walk);
  } else {
    walk.state = before->state;
    walk.count_before = before->count;
    walk.ended = before->ended;
  }
  if (walk.ended) return;
  const auto kept = state_of(walk.c.recipe.optimizer);
  for (const std::string& p : walk.parameters) {
    ExpectedState::Slot& slot = walk.state.slots[p];
    hold(walk, p, slot.parameter);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (slot.state[i].v.size() > 0) hold(walk, kept[i]->name + "." + p, slot.state[i]);
  }
  for (const std::string& label : moved_layers(walk.layers)) {
    hold(walk, label + ".running_mean", walk.state.running_mean[label]);
    hold(walk, label + ".running_var", walk.state.running_var[label]);
  }
  if (checks_overflow(walk.c.recipe.loss_scale)) {
    hold(walk, "scale", walk.state.scale.scale);
    Expected counter = oracle::scalar(static_cast<long double>(walk.state.scale.growth_counter));
    hold(walk, "growth_counter", counter);
  }
  Expected step = oracle::scalar(static_cast<long double>(walk.state.step));
  hold(walk, "step", step);
}

}  // namespace tally
