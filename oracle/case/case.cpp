#include "oracle/case/case.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"

namespace tally {

Case::Case() = default;
Case::Case(const Case&) = default;
Case::Case(Case&&) noexcept = default;
Case& Case::operator=(const Case&) = default;
Case& Case::operator=(Case&&) noexcept = default;
Case::~Case() = default;
namespace {

template <class T>
const T& option_as(const Choice& choice, std::string_view option) {
  const auto found = choice.options.find(std::string(option));
  if (found == choice.options.end()) throw std::logic_error(choice.kind + " has no option " + std::string(option));
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) throw std::logic_error(choice.kind + "." + std::string(option) + " is of another type");
  return *value;
}

Decimal class_weight(const Case& c, std::int64_t row) {
  const std::int64_t target = scored_class(c, row);
  if (target == c.model.loss.integer("ignore_index")) return {"0"};
  const std::vector<Decimal>& weights = c.model.loss.numbers("weight");
  return weights.empty() ? Decimal{"1"} : weights.at(static_cast<std::size_t>(target));
}

}  // namespace

double Decimal::to_double() const { return nearest_double(text); }

bool Choice::flag(std::string_view option) const { return option_as<bool>(*this, option); }
std::int64_t Choice::integer(std::string_view option) const { return option_as<std::int64_t>(*this, option); }
const Decimal& Choice::number(std::string_view option) const { return option_as<Decimal>(*this, option); }
const std::string& Choice::text(std::string_view option) const { return option_as<std::string>(*this, option); }
const std::vector<Decimal>& Choice::numbers(std::string_view option) const {
  return option_as<std::vector<Decimal>>(*this, option);
}
const std::vector<std::string>& Choice::texts(std::string_view option) const {
  return option_as<std::vector<std::string>>(*this, option);
}
const Shapes& Choice::shapes(std::string_view option) const { return option_as<Shapes>(*this, option); }

std::string_view name_of(Normalisation normalisation) {
  switch (normalisation) {
    case Normalisation::window_items:
      return "window_items";
    case Normalisation::mean_of_means:
      return "mean_of_means";
    case Normalisation::mean_of_means_configured:
      return "mean_of_means_configured";
    case Normalisation::sum:
      return "sum";
    case Normalisation::rank_means:
      return "rank_means";
  }
  throw std::logic_error("no such normalisation");
}

std::string label_of(const Model& model, std::size_t i) {
  const Layer& layer = model.layers.at(i);
  return layer.name.empty() ? layer.kind + "#" + std::to_string(i) : layer.name;
}

namespace {

/// Features of what is read: of the model's input, or of an output before layer i.
std::int64_t features_of(const Model& model, LayerInput from) {
  return from == model_input ? model.input : features_after(model, static_cast<std::size_t>(from));
}

}  // namespace

std::vector<std::int64_t> features_read(const Model& model, std::size_t i) {
  std::vector<std::int64_t> features;
  for (const LayerInput from : inputs_of(model, i)) features.push_back(features_of(model, from));
  return features;
}

std::int64_t features_before(const Model& model, std::size_t i) {
  if (i > model.layers.size()) throw std::out_of_range("no layer " + std::to_string(i));
  if (std::ranges::all_of(model.layers, [](const Layer& layer) { return layer.inputs.empty(); })) {
    std::int64_t features = model.input;
    for (std::size_t j = 0; j < i; ++j)
      features = contract_of("layer", model.layers[j]).out_features(model.layers[j], features);
    return features;
  }
  std::vector<std::int64_t> outputs;
  const auto entering = [&](std::size_t j) {
    const LayerInput from =
        j < model.layers.size() ? first_input_of(model, j) : static_cast<LayerInput>(model.layers.size()) - 1;
    return from == model_input ? model.input : outputs.at(static_cast<std::size_t>(from));
  };
  for (std::size_t j = 0; j < i; ++j)
    outputs.push_back(contract_of("layer", model.layers[j]).out_features(model.layers[j], entering(j)));
  return entering(i);
}

std::int64_t features_after(const Model& model, std::size_t i) {
  const Layer& layer = model.layers.at(i);
  return contract_of("layer", layer).out_features(layer, features_before(model, i));
}

const char* input_tensor(const Model& model) { return model.tokens ? "tokens" : "x"; }

namespace {

/// Names of the tensors of layers that have one of these roles, in model order.
std::vector<std::string> names_of(const Model& model, std::initializer_list<Role> roles) {
  std::vector<std::string> names;
  for (const Layer& layer : model.layers)
    for (const LayerTensor& tensor : tensors_of(layer))
      if (std::ranges::count(roles, tensor.role) > 0) names.push_back(layer.name + "." + tensor.name);
  return names;
}

}  // namespace

std::vector<std::string> parameters_of(const Model& model) { return names_of(model, {Role::parameter}); }

std::vector<std::string> weights_of(const Model& model) { return names_of(model, {Role::parameter, Role::frozen}); }

std::int64_t first_row(const Case& c, std::size_t window, std::size_t micro_batch) {
  if (window >= c.windows.size() || micro_batch >= c.windows[window].size())
    throw std::out_of_range("no micro-batch " + std::to_string(micro_batch) + " in window " + std::to_string(window));
  std::int64_t row = 0;
  for (std::size_t w = 0; w < window; ++w)
    for (const std::int64_t rows : c.windows[w]) row += rows;
  for (std::size_t k = 0; k < micro_batch; ++k) row += c.windows[window][k];
  return row;
}

Decimal item_weight(const Case& c, std::int64_t row) {
  if (has_class_targets(c.model.loss)) return class_weight(c, row);
  if (is_opaque(c.model.loss) || !c.model.loss.flag("item_weights")) return {"1"};
  return {std::to_string(c.tensors.at("item_weight").integer(static_cast<std::size_t>(row)))};
}

Case full_batch_of(const Case& c) {
  Case full = c;
  full.normalisation = Normalisation::window_items;
  full.dealt.clear();
  full.execution.ranks = {};
  for (std::vector<std::int64_t>& window : full.windows) {
    std::int64_t rows = 0;
    for (const std::int64_t size : window) rows += size;
    window = {rows};
  }
  for (Layer& layer : full.model.layers)
    if (normalises_parts(layer)) layer.options["statistics"] = std::string("window");
  forget_running(full.model.layers);
  return full;
}

}  // namespace tally
