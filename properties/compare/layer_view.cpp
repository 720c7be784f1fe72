#include "properties/compare/layer_view.hpp"

#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

LayerView view_of(const Model& model, std::size_t i) {
  const Layer& layer = model.layers[i];
  LayerView view{&layer, label_of(model, i), {}};
  for (const LayerTensor& tensor : tensors_of(layer)) {
    if (tensor.role == Role::parameter) view.parameters.push_back(tensor.name);
    view.mask = view.mask || tensor.role == Role::mask;
  }
  if (layer.kind == "batch_norm") {
    const std::string& statistics = layer.text("statistics");
    view.frozen = statistics == "frozen";
    view.window_statistics = statistics == "window";
    view.batch_statistics = statistics == "micro_batch";
  }
  return view;
}

}  // namespace

std::vector<LayerView> layers_of(const Model& model) {
  std::vector<LayerView> layers;
  bool reached = false;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    LayerView view = view_of(model, i);
    view.gives_dx = reached;
    reached = reached || !view.parameters.empty();
    view.has_gradient = reached;
    layers.push_back(std::move(view));
  }
  return layers;
}

bool is_given(const Model& model, const std::string& stage) {
  return is_opaque(model) && (stage == "cast" || stage == "forward" || stage == "loss" || stage == "backward");
}

bool in_lockstep(const std::vector<LayerView>& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const LayerView& l) { return l.window_statistics; });
}

}  // namespace tally
