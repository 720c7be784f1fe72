#include "kernels/trace/fork_layout.hpp"

namespace tally {
namespace {

bool is_forked(const Model& model, std::size_t layer) {
  const Graph graph = graph_of(model);
  return graph.readers[layer].size() > 1 && graph.reached[layer];
}

}  // namespace

std::optional<std::size_t> input_called(const Model& model, std::size_t layer, std::string_view word) {
  const std::size_t inputs = inputs_of(model, layer).size();
  for (std::size_t j = 0; j < inputs; ++j)
    if (word == input_word(model.layers[layer], inputs, j)) return j;
  return std::nullopt;
}

std::optional<std::int64_t> features_given(const Model& model, std::size_t layer, std::string_view word) {
  const auto input = input_called(model, layer, word);
  if (!input) return std::nullopt;
  const LayerInput from = inputs_of(model, layer)[*input];
  return from == model_input ? std::nullopt : features_forked(model, static_cast<std::size_t>(from), "y");
}

std::optional<std::string> shared_parameter_called(const Model& model, std::string_view gradient) {
  for (const SharedParameter& shared : shared_parameters(model))
    for (const std::size_t user : shared.users)
      if (gradient == shared.name + "@" + label_of(model, user)) return shared.name;
  return std::nullopt;
}

bool is_shared(const Model& model, std::string_view parameter) {
  for (const SharedParameter& shared : shared_parameters(model))
    if (shared.name == parameter) return true;
  return false;
}

std::optional<std::int64_t> features_forked(const Model& model, std::size_t layer, std::string_view tensor) {
  if (tensor != "y" || !is_forked(model, layer)) return std::nullopt;
  return features_after(model, layer);
}

}  // namespace tally
