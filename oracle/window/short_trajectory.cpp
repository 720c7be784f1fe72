#include "oracle/window/short_trajectory.hpp"

namespace tally::oracle {
namespace {

Matrix<Ball> enclosed(const Matrix<ShortBall>& x) {
  return x.unaryExpr([](const ShortBall& element) -> Ball { return enclosing(element); });
}

Tensors<Ball> enclosed(const Tensors<ShortBall>& tensors) {
  Tensors<Ball> result;
  for (const auto& [name, tensor] : tensors) result.emplace(name, enclosed(tensor));
  return result;
}

Slot<Ball> enclosed(const Slot<ShortBall>& slot) {
  Slot<Ball> result{enclosed(slot.parameter)};
  for (const Matrix<ShortBall>& tensor : slot.state) result.state.push_back(enclosed(tensor));
  return result;
}

State<Ball> enclosed(const State<ShortBall>& state) {
  State<Ball> result;
  for (const auto& [name, slot] : state.slots) result.slots.emplace(name, enclosed(slot));
  result.frozen = enclosed(state.frozen);
  result.running_mean = enclosed(state.running_mean);
  result.running_var = enclosed(state.running_var);
  result.step = state.step;
  result.scale = {enclosing(state.scale.scale), state.scale.growth_counter};
  return result;
}

WindowAnswer<Ball> enclosed(const WindowAnswer<ShortBall>& answer) {
  return {enclosing(answer.loss),
          enclosing(answer.loss_scale),
          enclosing(answer.learning_rate),
          enclosing(answer.grad_norm),
          enclosing(answer.clip_coefficient),
          answer.skipped,
          answer.loss_is_nan,
          enclosed(answer.grad),
          enclosed(answer.after)};
}

}  // namespace

std::vector<WindowAnswer<Ball>> short_trajectory(const Case& c, Branch branch) {
  std::vector<WindowAnswer<Ball>> result;
  for (const WindowAnswer<ShortBall>& answer : trajectory<ShortBall>(c, branch)) result.push_back(enclosed(answer));
  return result;
}

}  // namespace tally::oracle
