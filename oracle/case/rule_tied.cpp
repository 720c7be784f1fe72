#include <algorithm>

#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
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

}  // namespace tally
