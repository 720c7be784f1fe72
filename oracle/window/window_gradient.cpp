#include "oracle/window/window_gradient.hpp"

#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

/// The tensors of one layer by short name: parameters and running values from the state, masks from the case.
template <class T>
Tensors<T> layer_tensors(const Case& c, const Layer& layer, const WindowRows<T>& rows, const State<T>& state) {
  Tensors<T> tensors;
  for (const char* name : {"weight", "bias"})
    if (const auto slot = state.slots.find(layer.name + "." + name); slot != state.slots.end())
      tensors[name] = slot->second.parameter;
  if (const auto mean = state.running_mean.find(layer.name); mean != state.running_mean.end()) {
    tensors["running_mean"] = mean->second;
    tensors["running_var"] = state.running_var.at(layer.name);
  }
  if (const auto mask = c.tensors.find(layer.name + ".mask"); mask != c.tensors.end())
    tensors["mask"] = lift_rows<T>(mask->second, rows.first, rows.count);
  return tensors;
}

/// What backward needs of the forward walk: each layer's tensors and input, which for the first is the rows' own.
template <class T>
struct Step {
  Tensors<T> tensors;
  Matrix<T> held;
  Decisions decisions;
};

template <class T>
const Matrix<T>& input(const WindowRows<T>& rows, const std::vector<Step<T>>& steps, std::size_t i) {
  return i == 0 ? rows.x : steps[i].held;
}

template <class T>
Pass<T> pass_of(const Layer& layer, const Step<T>& step, const Cut& cut, bool gives_dx = true) {
  return {layer, step.tensors, cut, step.decisions, gives_dx};
}

/// Walks forward, noting each step and the statistics; returns the model's output.
template <class T>
Matrix<T> forward(const Case& c, const WindowRows<T>& rows, const State<T>& state, const WindowDecisions& decisions,
                  std::vector<Step<T>>& steps, WindowGradient<T>& result) {
  Matrix<T> y;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const auto decided = decisions.layers.find(label_of(c.model, i));
    steps.push_back({layer_tensors(c, layer, rows, state), std::move(y),
                     decided == decisions.layers.end() ? Decisions{} : decided->second});
    ForwardResult<T> out = naming("forward of " + label_of(c.model, i), [&] {
      return exact_layer<T>(layer.kind).forward(pass_of(layer, steps.back(), rows.cut), input(rows, steps, i));
    });
    y = std::move(out.y);
    if (layer.kind != "batch_norm" || out.mean.size() == 0) continue;
    result.mean[layer.name] = std::move(out.mean);
    result.var[layer.name] = std::move(out.var);
  }
  return steps.empty() ? rows.x : y;
}

}  // namespace

template <class T>
WindowGradient<T> window_gradient(const Case& c, const WindowRows<T>& rows, const State<T>& state,
                                  const WindowDecisions& decisions) {
  WindowGradient<T> result;
  std::vector<Step<T>> steps;
  const Matrix<T> y = forward(c, rows, state, decisions, steps, result);
  const Choice& chosen = c.model.loss;
  LossResult<T> loss = naming("loss", [&] {
    return exact_loss<T>(chosen.kind).evaluate(chosen, y, rows.target, rows.item_weight, rows.row_factor);
  });
  result.loss = loss.loss.sum();
  Matrix<T> dy = std::move(loss.dy);
  for (std::size_t i = c.model.layers.size(); i-- > 0;) {
    const Layer& layer = c.model.layers[i];
    BackwardResult<T> back = naming("backward of " + label_of(c.model, i), [&] {
      return exact_layer<T>(layer.kind).backward(pass_of(layer, steps[i], rows.cut, i > 0), input(rows, steps, i), dy);
    });
    for (auto& [name, gradient] : back.parameters) result.gradient[layer.name + "." + name] = std::move(gradient);
    dy = std::move(back.dx);
  }
  return result;
}

template WindowGradient<Real> window_gradient(const Case&, const WindowRows<Real>&, const State<Real>&,
                                              const WindowDecisions&);
template WindowGradient<long double> window_gradient(const Case&, const WindowRows<long double>&,
                                                     const State<long double>&, const WindowDecisions&);
template WindowGradient<Ball> window_gradient(const Case&, const WindowRows<Ball>&, const State<Ball>&,
                                              const WindowDecisions&);
template WindowGradient<ShortBall> window_gradient(const Case&, const WindowRows<ShortBall>&, const State<ShortBall>&,
                                                   const WindowDecisions&);

}  // namespace tally::oracle
