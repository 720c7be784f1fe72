#include "oracle/case/graph.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

std::vector<std::int64_t> users_of_tables(const Case& c) {
  std::vector<std::int64_t> found;
  for (const Layer& table : c.model.layers)
    if (table.kind == kinds::embedding)
      found.push_back(1 + std::ranges::count(c.model.layers, table.name, &Layer::tied));
  return found;
}
const Register<DeclaredSize> registered_users{{.name = "users of a table", .least = 1, .in = users_of_tables}};

LayerInput layer_before(std::size_t i) { return static_cast<LayerInput>(i) - 1; }

[[noreturn]] void throw_no_earlier_layer(std::size_t i, const std::string& name) {
  throw std::logic_error("layer " + std::to_string(i) + " reads '" + name + "', which is no earlier layer");
}

LayerInput input_named(const Model& model, std::size_t i, const std::string& name) {
  if (name == model_input_name) return model_input;
  for (std::size_t j = 0; j < i; ++j)
    if (model.layers[j].name == name) return static_cast<LayerInput>(j);
  throw_no_earlier_layer(i, name);
}

}  // namespace

std::vector<LayerInput> inputs_of(const Model& model, std::size_t i) {
  const std::vector<std::string>& names = model.layers.at(i).inputs;
  if (names.empty()) return {layer_before(i)};
  std::vector<LayerInput> inputs;
  for (const std::string& name : names) inputs.push_back(input_named(model, i, name));
  return inputs;
}

LayerInput first_input_of(const Model& model, std::size_t i) {
  const std::vector<std::string>& names = model.layers.at(i).inputs;
  return names.empty() ? layer_before(i) : input_named(model, i, names.front());
}

std::vector<LayerReader> readers_of(const Model& model, std::size_t i) { return graph_of(model).readers.at(i); }

std::string input_word(const Layer& layer, std::size_t inputs, std::size_t input) {
  const std::vector<std::string>& words = contract_of("layer", layer).input_words;
  if (!words.empty()) return words.at(input);
  return inputs == 1 ? "x" : "x" + std::to_string(input);
}

std::string parameter_name(const Layer& layer, std::string_view tensor) {
  return (tensor == "weight" && !layer.tied.empty() ? layer.tied : layer.name) + "." + std::string(tensor);
}

bool trains_tied_weight(const Model& model, const Layer& layer) {
  if (layer.tied.empty()) return false;
  const auto table = std::ranges::find(model.layers, layer.tied, &Layer::name);
  return table == model.layers.end() || table->trainable;
}

std::vector<SharedParameter> shared_parameters(const Model& model) {
  std::map<std::string, std::vector<std::size_t>> users;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (trains_tied_weight(model, model.layers[i])) users[parameter_name(model.layers[i], "weight")].push_back(i);
  std::vector<SharedParameter> shared;
  for (std::size_t i = 0; i < model.layers.size() && !users.empty(); ++i) {
    const auto found = users.find(parameter_name(model.layers[i], "weight"));
    if (!model.layers[i].tied.empty() || found == users.end()) continue;
    found->second.insert(found->second.begin(), i);
    shared.push_back({found->first, found->second});
  }
  return shared;
}

std::string gradient_name(const Model& model, std::size_t layer, std::string_view tensor) {
  const std::string name = parameter_name(model.layers.at(layer), tensor);
  for (const SharedParameter& shared : shared_parameters(model))
    if (shared.name == name) return "d." + name + "@" + label_of(model, layer);
  return "d." + name;
}

bool reads_layer_before(const Model& model, std::size_t i) {
  const std::vector<std::string>& names = model.layers.at(i).inputs;
  if (names.size() != 1 || names.front().empty()) return names.empty();
  const std::string& name = names.front();
  const auto has_it = [&](const Layer& layer) { return layer.name == model_input_name; };
  if (name == model_input_name && std::ranges::any_of(model.layers, has_it)) return false;  // which of the two?
  return name == (i == 0 ? model_input_name : model.layers[i - 1].name);
}

bool is_chain(const Model& model) {
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (!reads_layer_before(model, i)) return false;
  return true;
}

Graph graph_of(const Model& model) {
  Graph graph;
  std::map<std::string_view, LayerInput> places{{model_input_name, model_input}};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    std::vector<LayerInput>& inputs = graph.inputs.emplace_back();
    graph.readers.emplace_back();
    bool reached = trains_tied_weight(model, layer) || std::ranges::any_of(tensors_of(layer), [](const LayerTensor& t) {
                     return t.role == Role::parameter;
                   });
    if (layer.inputs.empty()) inputs.push_back(layer_before(i));
    for (const std::string& name : layer.inputs) {
      const auto place = places.find(name);
      if (place == places.end()) throw_no_earlier_layer(i, name);
      inputs.push_back(place->second);
    }
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      if (inputs[input] == model_input) continue;
      const auto from = static_cast<std::size_t>(inputs[input]);
      graph.readers[from].push_back({i, input});
      reached = reached || graph.reached[from];
    }
    graph.reached.push_back(reached);
    if (!layer.name.empty()) places.emplace(layer.name, static_cast<LayerInput>(i));
  }
  return graph;
}

}  // namespace tally
