// The gradient of one window, over all its rows at once.
#include <algorithm>
#include <numeric>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

template <class T>
T reciprocal(const T& divisor) {
  return divisor == 0 ? T(0) : T(1 / divisor);
}

template <class T>
Matrix<T> row_factors(const Case& c, std::size_t window, Branch branch, const WindowRows<T>& rows) {
  if (branch == Branch::full_batch) return Matrix<T>::Constant(1, rows.count, reciprocal(rows.items));
  Matrix<T> factors(1, rows.count);
  Eigen::Index next = 0;
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) {
    const T factor = reciprocal(divisor<T>(c, window, k));
    for (std::int64_t i = 0; i < c.windows[window][k]; ++i) factors(next++) = factor;
  }
  return factors;
}

}  // namespace

template <class T>
WindowRows<T> window_rows(const Case& c, std::size_t window, Branch branch) {
  WindowRows<T> rows;
  const auto& sizes = c.windows.at(window);
  rows.first = first_row(c, window);
  rows.count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  rows.cut = branch == Branch::full_batch ? Cut{rows.count} : sizes;
  for (std::size_t k = 0; k < sizes.size() && branch == Branch::accumulated && !c.dealt.empty(); ++k)
    rows.steps.push_back(k - first_micro_batch_of(c, window, rank_with(c, window, k)));
  const auto lifted = [&](const char* name) {
    return naming(name, [&] { return lift_rows<T>(c.tensors.at(name), rows.first, rows.count); });
  };
  rows.x = lifted(input_tensor(c.model));
  if (c.model.tokens) rows.x = rows.x.transpose().eval();
  rows.target = naming("target", [&] { return lift_rows<T>(*ScoredTarget(c), rows.first, rows.count); });
  if (reads_positions(c.model)) rows.positions = lift_rows<T>(positions_of(c), rows.first, rows.count).transpose();
  if (reads_sequences(c.model)) rows.places = lift_rows<T>(places_of(c), rows.first, rows.count);
  rows.items = window_items<T>(c, window);
  rows.item_weight.resize(1, rows.count);
  const ItemWeights weights(c);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const auto whole = weights.whole(rows.first + i);
    rows.item_weight(i) = whole ? T(static_cast<double>(*whole)) : number<T>(item_weight(c, rows.first + i));
  }
  rows.row_factor = row_factors(c, window, branch, rows);
  return rows;
}

template WindowRows<Real> window_rows(const Case&, std::size_t, Branch);
template WindowRows<long double> window_rows(const Case&, std::size_t, Branch);
template WindowRows<Ball> window_rows(const Case&, std::size_t, Branch);
template WindowRows<ShortBall> window_rows(const Case&, std::size_t, Branch);

namespace {

/// The tensors of one layer by short name: parameters and running values from the state, masks from the case.
template <class T>
Tensors<T> layer_tensors(const Case& c, const Layer& layer, const WindowRows<T>& rows, const State<T>& state) {
  Tensors<T> tensors;
  for (const char* name : {"weight", "bias"}) {
    const std::string full = parameter_name(layer, name);
    if (const auto slot = state.slots.find(full); slot != state.slots.end())
      tensors[name] = slot->second.parameter;
    else if (const auto frozen = state.frozen.find(full); frozen != state.frozen.end())
      tensors[name] = frozen->second;
  }
  if (const auto mean = state.running_mean.find(layer.name); mean != state.running_mean.end()) {
    tensors["running_mean"] = mean->second;
    tensors["running_var"] = state.running_var.at(layer.name);
  }
  if (c.tensors.contains(layer.name + ".mask")) {
    const Tensor mask = mask_of_rows(c, layer.name, rows.first, rows.count);
    tensors["mask"] = lift_rows<T>(mask, 0, mask.shape.front());
  }
  if (contract_of("layer", layer).reads_positions) tensors["positions"] = rows.positions;
  if (contract_of("layer", layer).reads_sequences) tensors["places"] = rows.places;
  return tensors;
}

/// The walk through the graph: every layer's tensors and output, and in backward the gradient of each output.
template <class T>
class Walk {
 public:
  Walk(const Case& c, const WindowRows<T>& rows, const State<T>& state, const WindowDecisions& decisions)
      : c_(c), rows_(rows), state_(state), graph_(graph_of(c.model)) {
    for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
      const auto decided = decisions.layers.find(label_of(c.model, i));
      steps_.push_back({layer_tensors(c, c.model.layers[i], rows, state),
                        decided == decisions.layers.end() ? Decisions{} : decided->second,
                        {},
                        {}});
    }
  }

  /// Forward through all layers, with the statistics that they leave.
  void forward(WindowGradient<T>& result) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Layer& layer = c_.model.layers[i];
      ForwardResult<T> out = naming("forward of " + label_of(c_.model, i), [&] {
        return exact_layer<T>(layer.kind).forward(pass_of(i), output_of(graph_.inputs[i].front()));
      });
      steps_[i].y = std::move(out.y);
      if (layer.kind != kinds::batch_norm || out.mean.size() == 0) continue;
      result.mean[layer.name] = std::move(out.mean);
      result.var[layer.name] = std::move(out.var);
    }
  }

  const Matrix<T>& output() const { return output_of(static_cast<LayerInput>(steps_.size()) - 1); }

  /// Backward from the gradient of the model's output.
  void backward(Matrix<T> dy, WindowGradient<T>& result) {
    if (!steps_.empty()) steps_.back().dy = std::move(dy);
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (graph_.reached[i]) back_through(i, result);
      steps_[i] = {};
    }
  }

 private:
  struct Step {
    Tensors<T> tensors;
    Decisions decisions;
    Matrix<T> y, dy;  // dy: the sum of what its readers gave so far, (add.3)
  };

  const Matrix<T>& output_of(LayerInput from) const {
    return from == model_input ? rows_.x : steps_[static_cast<std::size_t>(from)].y;
  }
  bool is_reached(LayerInput from) const {
    return from != model_input && graph_.reached[static_cast<std::size_t>(from)];
  }

  Pass<T> pass_of(std::size_t i) const {
    Pass<T> pass{c_.model.layers[i], steps_[i].tensors, rows_.cut, steps_[i].decisions,
                 std::ranges::any_of(graph_.inputs[i], [&](LayerInput from) { return is_reached(from); })};
    for (std::size_t j = 1; j < graph_.inputs[i].size(); ++j) pass.others.push_back(&output_of(graph_.inputs[i][j]));
    pass.steps = rows_.steps;
    return pass;
  }

  void give(LayerInput to, Matrix<T> gradient) {
    if (!is_reached(to)) return;
    Matrix<T>& sum = steps_[static_cast<std::size_t>(to)].dy;
    if (sum.size() == 0)
      sum = std::move(gradient);
    else
      sum += gradient;
  }

  void back_through(std::size_t i, WindowGradient<T>& result) {
    const Layer& layer = c_.model.layers[i];
    if (contract_of("layer", layer).hands_gradient_on) {  // (add.2)
      for (const LayerInput from : graph_.inputs[i]) give(from, steps_[i].dy);
      return;
    }
    BackwardResult<T> back = naming("backward of " + label_of(c_.model, i), [&] {
      return exact_layer<T>(layer.kind).backward(pass_of(i), output_of(graph_.inputs[i].front()), steps_[i].dy);
    });
    for (auto& [name, gradient] : back.parameters) {
      const std::string full = parameter_name(layer, name);
      if (state_.frozen.contains(full)) continue;
      Matrix<T>& sum = result.gradient[full];  // of a shared one what came before, (add.3)
      if (sum.size() == 0)
        sum = std::move(gradient);
      else
        sum += gradient;
    }
    give(graph_.inputs[i].front(), std::move(back.dx));
    for (std::size_t j = 0; j < back.more_dx.size(); ++j) give(graph_.inputs[i].at(j + 1), std::move(back.more_dx[j]));
  }

  const Case& c_;
  const WindowRows<T>& rows_;
  const State<T>& state_;
  const Graph graph_;
  std::vector<Step> steps_;
};

}  // namespace

template <class T>
WindowGradient<T> window_gradient(const Case& c, const WindowRows<T>& rows, const State<T>& state,
                                  const WindowDecisions& decisions) {
  WindowGradient<T> result;
  Walk<T> walk(c, rows, state, decisions);
  walk.forward(result);
  const Choice& chosen = c.model.loss;
  LossResult<T> loss = naming("loss", [&] {
    return exact_loss<T>(chosen.kind).evaluate(chosen, walk.output(), rows.target, rows.item_weight, rows.row_factor);
  });
  result.loss = loss.loss.sum();
  walk.backward(std::move(loss.dy), result);
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
