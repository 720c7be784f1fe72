// Rules of the model: names, who reads whom, tied weights, what trains, sizes.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/rules/rules.hpp"

namespace tally {
namespace {

bool has_tensors(const Layer& layer) {
  const Contract& contract = *find_contract("layer", layer.kind);
  return !contract.parameters_by.empty() ||
         std::any_of(contract.tensors.begin(), contract.tensors.end(),
                     [&](const LayerTensor& tensor) { return tensor.present(layer); });
}

bool is_name(const std::string& name) {
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return name.find_first_not_of(letters) == std::string::npos;
}

}  // namespace

void check_names(const Case& c, Findings& findings) {
  if (!is_utf8(c.name)) findings.add("$.name", "bytes that are not UTF-8", "a text");
  std::set<std::string> taken;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::string path = element_path("$.model.layers", i) + ".name";
    if (layer.name.empty() && has_tensors(layer))
      findings.add_broken(path, "nothing", "the name of a layer with tensors: letters, digits, _ and -");
    else if (!is_name(layer.name))
      findings.add_broken(path, json_string(layer.name), "letters, digits, _ and -");
    else if (!layer.name.empty() && !taken.insert(layer.name).second)
      findings.add_broken(path, json_string(layer.name) + " again", "a name that no other layer has");
  }
}

namespace {

std::string inputs_path(std::size_t i) { return element_path("$.model.layers", i) + ".inputs"; }

bool is_named(const Model& model, std::size_t end, const std::string& name) {
  return std::any_of(model.layers.begin(), model.layers.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Layer& layer) { return layer.name == name; });
}

/// How many inputs a layer of this kind reads.
std::string count_of(const Contract& contract) {
  const std::string least = std::to_string(contract.least_inputs);
  return contract.least_inputs == contract.most_inputs
             ? least + (contract.least_inputs == 1 ? " name" : " names")
             : least + " to " + std::to_string(contract.most_inputs) + " names";
}

void check_names_of(const Model& model, std::size_t i, Findings& findings) {
  const std::vector<std::string>& names = model.layers[i].inputs;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const std::string path = element_path(inputs_path(i), j);
    if (names[j] != model_input_name) {
      if (names[j].empty() || !is_named(model, i, names[j]))
        findings.add_broken(path, json_string(names[j]), "the name of an earlier layer, or \"input\"");
    } else if (is_named(model, model.layers.size(), names[j])) {
      findings.add_broken(path, "\"input\", which is also the name of a layer", "another name for that layer");
    }
  }
}

void check_count(const Model& model, std::size_t i, Findings& findings) {
  const Layer& layer = model.layers[i];
  const Contract& contract = *find_contract("layer", layer.kind);
  const std::size_t count = layer.inputs.empty() ? 1 : layer.inputs.size();
  if (count >= contract.least_inputs && count <= contract.most_inputs) return;
  findings.add_broken(inputs_path(i), layer.inputs.empty() ? "nothing" : std::to_string(count) + " names",
                      count_of(contract));
}

}  // namespace

void check_graph(const Case& c, Findings& findings) {
  const Model& model = c.model;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    check_names_of(model, i, findings);
    check_count(model, i, findings);
  }
  if (!findings.sound("$.model.layers")) return;
  std::set<LayerInput> read;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    for (const LayerInput from : inputs_of(model, i)) read.insert(from);
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i)
    if (!read.contains(static_cast<LayerInput>(i)))
      findings.add_broken(element_path("$.model.layers", i), "an output that no later layer reads",
                          "a reader: its name among the inputs of a later layer");
}

namespace {

/// The embedding before layer i that has this name; nullptr: none.
const Layer* table_named(const Model& model, std::size_t i, const std::string& name) {
  const auto end = model.layers.begin() + static_cast<std::ptrdiff_t>(i);
  const auto found = std::find_if(model.layers.begin(), end, [&](const Layer& layer) {
    return layer.name == name && contract_of("layer", layer).reads_tokens;
  });
  return found == end ? nullptr : &*found;
}

}  // namespace

void check_tied(const Case& c, Findings& findings) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::string path = element_path("$.model.layers", i);
    const std::string& sets = contract_of("layer", layer).tied_sets;
    if (layer.tied.empty()) continue;
    const Layer* table = table_named(c.model, i, layer.tied);
    if (sets.empty()) {
      findings.add_broken(path + ".tied", layer.kind + " with a tied weight", "a linear layer");
    } else if (table == nullptr) {
      findings.add_broken(path + ".tied", json_string(layer.tied), "the name of an earlier embedding");
    } else if (layer.integer(sets) != c.model.input) {
      findings.add_broken(path + "." + sets, std::to_string(layer.integer(sets)),
                          std::to_string(c.model.input) + ", the vocabulary of the table, or nothing");
    } else if (features_before(c.model, i) != table->integer("width")) {
      findings.add_broken(path + ".tied", std::to_string(features_before(c.model, i)) + " features that enter",
                          std::to_string(table->integer("width")) + ", the width of " + json_string(layer.tied));
    }
  }
}

void check_trainable(const Case& c, Findings& findings) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    if (layer.trainable) continue;
    const std::vector<LayerTensor> tensors = tensors_of(layer);
    if (std::ranges::count(tensors, Role::frozen, &LayerTensor::role) > 0) continue;
    findings.add_broken(element_path("$.model.layers", i) + ".trainable",
                        "false, where " + json_string(layer.kind) + " has no parameters of its own",
                        layer.tied.empty() ? "nothing" : "nothing: a tied weight is frozen with its table");
  }
  if (parameters_of(c.model).empty())
    findings.add_broken("$.model.layers", "no trainable parameter", "at least one layer that is not frozen");
}

namespace {

bool affordable(const std::vector<std::int64_t>& shape) {
  try {
    return elements_of(shape) <= most_elements;
  } catch (const std::length_error&) {
    return false;
  }
}

/// One finding for each layer at most: what follows an impossible size is impossible as well.
void check_size(const std::vector<std::int64_t>& shape, const std::string& path, Findings& findings) {
  if (!affordable(shape) && findings.sound(path))
    findings.add_broken(path, "a size of " + to_string(shape),
                        "at most " + std::to_string(most_elements) + " elements");
}

}  // namespace

void check_sizes(const Case& c, Findings& findings) {
  const std::int64_t least = is_opaque(c.model) ? 0 : 1;
  if (c.model.input < least) {
    findings.add_broken("$.model.input", std::to_string(c.model.input), "an integer >= " + std::to_string(least));
    return;
  }
  if (is_opaque(c.model.loss) && !is_opaque(c.model))
    findings.add_broken("$.model.loss", "an opaque loss of a model that is stated", "a loss of a known kind");
  const std::int64_t rows = rows_of(c);
  check_size({rows, c.model.input}, "$.model.input", findings);
  std::vector<std::int64_t> outputs;
  const auto features_of = [&](LayerInput from) {
    return from == model_input ? c.model.input : outputs[static_cast<std::size_t>(from)];
  };
  std::size_t activations = 0;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const Contract& contract = *find_contract("layer", layer.kind);
    const std::string path = element_path("$.model.layers", i);
    if (contract.opaque && c.model.layers.size() > 1)
      findings.add_broken(path, "an opaque layer beside others", "an opaque layer alone, which is the whole model");
    const std::vector<LayerInput> inputs = inputs_of(c.model, i);
    const std::int64_t entering = features_of(inputs.front());
    std::vector<std::int64_t> read;
    for (const LayerInput from : inputs) read.push_back(features_of(from));
    for (const Misfit& misfit : contract.input_misfits(layer, read))
      findings.add_broken(path + "." + misfit.option, misfit.found, misfit.expected);
    for (const LayerTensor& tensor : tensors_of(layer))
      if (tensor.role != Role::mask) check_size(tensor.shape(layer, entering), path, findings);
    const std::int64_t features = outputs.emplace_back(contract.out_features(layer, entering));
    check_size({rows, features}, path, findings);
    if (!findings.sound(path)) continue;
    activations += static_cast<std::size_t>(rows * features);
    if (activations <= most_elements) continue;
    findings.add_broken(path, std::to_string(activations) + " elements of activations up to here",
                        "at most " + std::to_string(most_elements));
    return;
  }
}

}  // namespace tally
