#include "oracle/graph/layer_view.hpp"

#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {
namespace {

LayerView view_of(const Model& model, std::size_t i) {
  const Layer& layer = model.layers[i];
  LayerView view{&layer, label_of(model, i), {}, {}};
  if (!layer.tied.empty())
    (trains_tied_weight(model, layer) ? view.parameters : view.frozen_parameters).push_back("weight");
  for (const LayerTensor& tensor : tensors_of(layer)) {
    if (tensor.role == Role::parameter) view.parameters.push_back(tensor.name);
    if (tensor.role == Role::frozen) view.frozen_parameters.push_back(tensor.name);
    view.mask = view.mask || tensor.role == Role::mask;
  }
  if (layer.kind == kinds::batch_norm) {
    const std::string& statistics = layer.text("statistics");
    view.frozen = statistics == "frozen";
    view.window_statistics = statistics == "window";
    view.step_statistics = statistics == "micro_step";
    view.batch_statistics = statistics == "micro_batch" || view.step_statistics;
  }
  return view;
}

}  // namespace

std::vector<LayerView> layers_of(const Model& model) {
  std::vector<LayerView> layers;
  Graph graph = graph_of(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    LayerView view = view_of(model, i);
    view.inputs = std::move(graph.inputs[i]);
    view.readers = std::move(graph.readers[i]);
    view.has_gradient = graph.reached[i];
    view.gives_dx = std::ranges::any_of(view.inputs, [&](LayerInput from) {
      return from != model_input && graph.reached[static_cast<std::size_t>(from)];
    });
    const Contract& contract = contract_of("layer", model.layers[i]);
    view.hands_on = contract.hands_gradient_on;
    view.reads_tokens = contract.reads_tokens;
    view.reads_positions = contract.reads_positions;
    view.looks_up = looks_up(contract);
    view.reads_sequences = contract.reads_sequences;
    view.contract = &contract;
    layers.push_back(std::move(view));
  }
  for (const SharedParameter& shared : shared_parameters(model))
    for (const std::size_t user : shared.users) layers[user].shares_weight = true;
  return layers;
}

StageTensor gradient_of_output(const std::vector<LayerView>& layers, const LayerView& layer) {
  if (layer.readers.empty()) return {"loss", "d.y"};
  if (layer.forked()) return {"fork", "d." + layer.label + ".y"};
  return gradient_given_by(layers, layer.readers.front());
}

StageTensor gradient_of_parameter(const std::vector<LayerView>& layers, const std::string& parameter) {
  const bool shared = std::ranges::any_of(
      layers, [&](const LayerView& layer) { return layer.shares_weight && layer.full_name("weight") == parameter; });
  return {shared ? "fork" : "backward", "d." + parameter};
}

StageTensor gradient_given_by(const std::vector<LayerView>& layers, const LayerReader& reader) {
  const LayerView& layer = layers[reader.layer];
  if (layer.hands_on) return gradient_of_output(layers, layer);
  return {"backward", "d." + layer.input_name(reader.input)};
}

bool is_given(const Model& model, const std::string& stage) {
  return is_opaque(model) && (stage == StageName::cast || stage == StageName::forward || stage == StageName::loss ||
                              stage == StageName::backward);
}

bool in_lockstep(const std::vector<LayerView>& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const LayerView& l) { return l.window_statistics; });
}

}  // namespace tally
