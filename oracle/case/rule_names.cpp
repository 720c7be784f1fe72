#include <algorithm>
#include <set>

#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

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
  if (!is_utf8(c.name)) findings.add("$.name", "bytes that are no UTF-8", "a text");
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

}  // namespace tally
