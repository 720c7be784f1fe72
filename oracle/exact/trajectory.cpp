// Whole windows, one after another.
#include "oracle/exact/trajectory.hpp"

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

/// The named tensor lifted, or empty where the case has none.
template <class T>
Matrix<T> lifted_if_present(const Case& c, const std::string& name) {
  const auto tensor = c.tensors.find(name);
  return tensor == c.tensors.end() ? Matrix<T>() : naming(name, [&] { return lift<T>(tensor->second); });
}

template <class T>
Matrix<T> lifted(const Case& c, const std::string& name) {
  return naming(name, [&] { return lift<T>(c.tensors.at(name)); });
}

/// The case's, or what stands for it before the first step: zeros, where the shape cannot be told from the parameter's.
template <class T>
Matrix<T> begun(const Case& c, const KeptTensor& kept) {
  Matrix<T> given = lifted_if_present<T>(c, kept.name);
  if (given.size() != 0 || !reads_whole_tensors(c.recipe.optimizer)) return given;
  return lift<T>(Tensor(c.precision.master, kept.shape));
}

/// The recipe's gradient to parameter step for one parameter.
template <class T>
Slot<T> stepped(const Case& c, const std::string& name, const WindowAnswer<T>& answer, std::int64_t step,
                Slot<T> slot) {
  const Recipe& recipe = c.recipe;
  Matrix<T> gradient = clipped(recipe.clip, answer.clip_coefficient, answer.grad.at(name));
  if (decays(c.model, recipe.weight_decay, name)) {
    Matrix<T>& moved = decays_gradient(recipe.weight_decay) ? gradient : slot.parameter;
    moved = decayed(recipe.weight_decay, answer.learning_rate, gradient, slot.parameter);
  }
  return updated(recipe.optimizer, answer.learning_rate, step, gradient, slot);
}

/// Once for each group of rows that shared statistics, in order: what its rank holds, of the full batch what all hold.
/// A row of the running values is a rank's; where there is one, the first rank's.
template <class T>
void move_running_statistics(const Case& c, std::size_t at, Branch branch, const WindowRows<T>& rows,
                             const WindowGradient<T>& window, State<T>& state) {
  for (const Layer& layer : c.model.layers) {
    if (!window.mean.contains(layer.name)) continue;
    const Matrix<T>&mean = window.mean.at(layer.name), &var = window.var.at(layer.name);
    Matrix<T>&running_means = state.running_mean.at(layer.name), &running_vars = state.running_var.at(layer.name);
    const bool steps = pools_steps(c, layer), all = branch == Branch::full_batch || ranks_of(c, at) == 1 || steps;
    for (Eigen::Index g = 0; g < mean.rows(); ++g) {
      const auto part = static_cast<std::size_t>(g);
      const std::int64_t size = mean.rows() == 1 ? rows.count : steps ? rows_of_step(c, at, part) : rows.cut[part];
      for (Eigen::Index rank = 0; rank < running_means.rows(); ++rank) {
        if (!all && rank_with(c, at, static_cast<std::size_t>(g)) != static_cast<std::size_t>(rank)) continue;
        running_means.row(rank) = running_mean<T>(layer, running_means.row(rank), mean.row(g));
        running_vars.row(rank) = running_var<T>(layer, running_vars.row(rank), var.row(g), size);
      }
    }
  }
}

}  // namespace

std::string name_of(Branch branch) { return branch == Branch::full_batch ? "full_batch" : "accumulated"; }

template <class T>
State<T> initial_state(const Case& c) {
  State<T> state;
  for (const std::string& name : parameters_of(c.model)) {
    Slot<T>& slot = state.slots[name];
    slot.parameter = lifted<T>(c, name);
    slot.state.resize(state_of(c.recipe.optimizer).size());
    for (const KeptTensor& kept : kept_beside(c, name)) slot.state[kept.index] = begun<T>(c, kept);
  }
  for (const std::string& name : weights_of(c.model))
    if (!state.slots.contains(name)) state.frozen[name] = lifted<T>(c, name);
  for (const Layer& layer : c.model.layers) {
    if (layer.kind != kinds::batch_norm) continue;
    const auto ranks = static_cast<Eigen::Index>(running_values_of(c, layer));
    state.running_mean[layer.name] = lifted<T>(c, layer.name + ".running_mean").replicate(ranks, 1);
    state.running_var[layer.name] = lifted<T>(c, layer.name + ".running_var").replicate(ranks, 1);
  }
  if (const auto step = c.tensors.find("step"); step != c.tensors.end()) state.step = step->second.integer(0);
  state.scale = initial_scale<T>(c.recipe.loss_scale);
  return state;
}

template <class T>
WindowAnswer<T> evaluate_window(const Case& c, std::size_t window, Branch branch, const State<T>& before,
                                const WindowDecisions& decisions) {
  const WindowRows<T> rows = window_rows<T>(c, window, branch);
  WindowGradient<T> found = window_gradient(c, rows, before, decisions);
  WindowAnswer<T> answer;
  answer.loss_is_nan = rows.items == 0;
  answer.loss = answer.loss_is_nan ? not_a_number<T>() : T(found.loss / rows.items);
  answer.loss_scale = before.scale.scale;
  answer.learning_rate = learning_rate<T>(c.recipe.learning_rate, before.step);
  answer.skipped = decisions.skipped;
  answer.grad = std::move(found.gradient);
  answer.grad_norm = naming("norm", [&] { return gradient_norm(c.recipe.clip, answer.grad); });
  answer.clip_coefficient =
      naming("clip", [&] { return clip_coefficient(c.recipe.clip, answer.grad_norm, before.step); });
  answer.after = before;
  move_running_statistics(c, window, branch, rows, found, answer.after);
  answer.after.scale = next_scale(c.recipe.loss_scale, before.scale, decisions.skipped);
  if (answer.skipped) return answer;
  for (auto& [name, slot] : answer.after.slots)
    slot = naming("step of " + name, [&] { return stepped(c, name, answer, before.step, slot); });
  ++answer.after.step;
  return answer;
}

template <class T>
std::vector<WindowAnswer<T>> trajectory(const Case& c, Branch branch) {
  std::vector<WindowAnswer<T>> answers;
  State<T> state = initial_state<T>(c);
  for (std::size_t window = 0; window < c.windows.size(); ++window) {
    answers.push_back(naming(name_of(branch) + "[" + std::to_string(window) + "]",
                             [&] { return evaluate_window(c, window, branch, state); }));
    state = answers.back().after;
  }
  return answers;
}

template State<Real> initial_state<Real>(const Case&);
template State<long double> initial_state<long double>(const Case&);
template State<Ball> initial_state<Ball>(const Case&);
template State<ShortBall> initial_state<ShortBall>(const Case&);
template WindowAnswer<Real> evaluate_window(const Case&, std::size_t, Branch, const State<Real>&,
                                            const WindowDecisions&);
template WindowAnswer<long double> evaluate_window(const Case&, std::size_t, Branch, const State<long double>&,
                                                   const WindowDecisions&);
template WindowAnswer<Ball> evaluate_window(const Case&, std::size_t, Branch, const State<Ball>&,
                                            const WindowDecisions&);
template WindowAnswer<ShortBall> evaluate_window(const Case&, std::size_t, Branch, const State<ShortBall>&,
                                                 const WindowDecisions&);
template std::vector<WindowAnswer<Real>> trajectory(const Case&, Branch);
template std::vector<WindowAnswer<long double>> trajectory(const Case&, Branch);
template std::vector<WindowAnswer<Ball>> trajectory(const Case&, Branch);
template std::vector<WindowAnswer<ShortBall>> trajectory(const Case&, Branch);

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
