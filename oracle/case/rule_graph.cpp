#include <algorithm>
#include <set>

#include "oracle/case/graph.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
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
      findings.add_broken(path, "\"input\", as a layer is called as well", "another name for that layer");
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

}  // namespace tally
