#include "properties/studies/evidence/part.hpp"

#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

/// "fc1" of "in.d.fc1.weight".
std::string label_in(std::string tensor) {
  for (const char* prefix : {"in.", "d."}) {
    if (tensor.starts_with(prefix)) tensor.erase(0, std::string_view(prefix).size());
  }
  return tensor.substr(0, tensor.rfind('.'));
}

std::string layer_kind(const Case& c, const std::string& tensor) {
  const std::string label = label_in(tensor);
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    if (label_of(c.model, i) == label) return kernel_family_of(c.model.layers[i]);
  }
  return label;
}

}  // namespace

std::string part_of(const Case& c, const TapName& tap) {
  const Recipe& recipe = c.recipe;
  if (tap.stage == "forward" || tap.stage == "backward") return tap.stage + " " + layer_kind(c, tap.tensor);
  if (tap.stage == "loss") return "loss " + c.model.loss.kind;
  if (tap.stage == "optimizer") return "optimizer " + recipe.optimizer.kind;
  if (tap.stage == "clip") return "clip " + recipe.clip.kind;
  if (tap.stage == "decay") return "decay " + recipe.weight_decay.kind;
  return tap.stage;
}

std::string part_of_operation(std::string_view operation) {
  const auto dot = operation.find('.');
  const std::string first(operation.substr(0, dot));
  const std::string rest(dot == std::string_view::npos ? "" : operation.substr(dot + 1));
  if (first == "decay") return "decay " + rest;
  if (operation == "gradient.add") return "fork";
  if (!rest.empty())
    return (rest.find("gradient") + 1 || rest.starts_with("backward") ? "backward " : "forward ") + first;
  if (find_contract("loss", first) != nullptr) return "loss " + first;
  if (find_contract("optimizer", first) != nullptr) return "optimizer " + first;
  if (first == "clip_by_value") return "clip value";
  return first.starts_with("clip") ? "clip global_norm" : first;
}

}  // namespace tally
