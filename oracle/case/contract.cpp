// Contracts, and what those of a case's kinds say of it.
#include "oracle/case/contract.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "oracle/case/io.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/rows.hpp"

namespace tally {
namespace {
using Key = std::pair<std::string, std::string>;  // section, kind

std::map<Key, Contract>& registry() {
  static std::map<Key, Contract> all;
  return all;
}

/// By kind alone, which two sections seldom share: contracts are looked up for every tap.
std::unordered_multimap<std::string_view, const Contract*>& by_kind() {
  static std::unordered_multimap<std::string_view, const Contract*> all;
  return all;
}
}  // namespace

void enter_record(Contract contract, std::source_location) {
  const Key key{contract.section, contract.kind};
  const auto [place, fresh] = registry().emplace(key, std::move(contract));
  if (!fresh) throw std::logic_error("two contracts of the " + key.first + " " + key.second);
  by_kind().emplace(place->second.kind, &place->second);
}

std::vector<const Contract*> contracts_of(std::string_view section) {
  std::vector<const Contract*> found;
  for (const auto& [key, contract] : registry())
    if (key.first == section) found.push_back(&contract);
  return found;
}

std::vector<const Contract*> drawn_contracts_of(std::string_view section) {
  std::vector<const Contract*> found = contracts_of(section);
  std::erase_if(found, [](const Contract* contract) { return !contract->drawn; });
  return found;
}

const Contract* find_contract(std::string_view section, std::string_view kind) {
  for (auto [next, end] = by_kind().equal_range(kind); next != end; ++next)
    if (next->second->section == section) return next->second;
  return nullptr;
}

const Contract& contract_of(std::string_view section, const Choice& choice) {
  const Contract* contract = find_contract(section, choice.kind);
  if (contract == nullptr)
    throw std::logic_error("no " + std::string(section) + " is of the kind \"" + choice.kind + "\"");
  return *contract;
}

std::vector<LayerTensor> tensors_of(const Layer& layer) {
  const Contract& contract = contract_of("layer", layer);
  std::vector<LayerTensor> tensors;
  for (const LayerTensor& tensor : contract.tensors)
    if (tensor.present(layer) && (layer.tied.empty() || tensor.name != "weight")) tensors.push_back(tensor);
  if (!contract.parameters_by.empty())
    for (const auto& [name, shape] : layer.shapes(contract.parameters_by))
      tensors.push_back({name, Role::parameter, [shape = shape](const Choice&, std::int64_t) { return shape; }});
  for (LayerTensor& tensor : tensors)
    if (tensor.role == Role::parameter && !layer.trainable) tensor.role = Role::frozen;
  return tensors;
}

bool looks_up(const Contract& contract) { return contract.reads_tokens || !contract.table_length.empty(); }

std::vector<Misfit> other_sizes(const Choice&, const std::vector<std::int64_t>& features) {
  std::vector<Misfit> found;
  for (std::size_t j = 1; j < features.size(); ++j)
    if (features[j] != features.front())
      found.push_back({"inputs[" + std::to_string(j) + "]", std::to_string(features[j]) + " features",
                       std::to_string(features.front()) + ", as its first input has"});
  return found;
}

std::int64_t width_of(const RowStatistic& statistic, const Choice& layer) {
  return statistic.per.empty() ? 1 : layer.integer(statistic.per);
}

std::vector<std::int64_t> shape_of(const RowStatistic& statistic, const Choice& layer, std::int64_t rows) {
  if (statistic.per.empty()) return {rows};
  return {rows, width_of(statistic, layer)};
}

std::string kernel_family_of(const Layer& layer) {
  const Contract* contract = find_contract("layer", layer.kind);
  if (contract == nullptr || contract->kernels_by.empty()) return layer.kind;
  return layer.kind + "_" + layer.text(contract->kernels_by);
}

bool is_opaque(const Layer& layer) { return contract_of("layer", layer).opaque; }
bool is_opaque(const Choice& loss) { return contract_of("loss", loss).opaque; }
bool is_opaque(const Model& model) { return model.layers.size() == 1 && is_opaque(model.layers.front()); }

bool reads_positions(const Model& model) {
  return std::ranges::any_of(model.layers,
                             [](const Layer& layer) { return contract_of("layer", layer).reads_positions; });
}

bool reads_sequences(const Model& model) {
  return std::ranges::any_of(model.layers,
                             [](const Layer& layer) { return contract_of("layer", layer).reads_sequences; });
}

bool is_norm(const Layer& layer) { return contract_of("layer", layer).norm; }

void require_stated(const Case& c) {
  const char* const allowed = "a kind whose formulas are known; tally check judges a capture of this one";
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (is_opaque(c.model.layers[i]))
      throw InvalidCase({{"$.model.layers[" + std::to_string(i) + "].kind", "\"opaque\"", allowed}});
  if (is_opaque(c.model.loss)) throw InvalidCase({{"$.model.loss.kind", "\"opaque\"", allowed}});
}

bool has_class_targets(const Choice& loss) { return contract_of("loss", loss).class_targets; }

const Decimal* written_scale(const Choice& loss_scale) {
  const Contract& contract = contract_of("loss_scale", loss_scale);
  return contract.does_nothing ? nullptr : &loss_scale.number(contract.first_scale);
}

bool checks_overflow(const Choice& loss_scale) { return contract_of("loss_scale", loss_scale).checks_overflow; }

bool clips(const Choice& clip) { return !contract_of("clip", clip).does_nothing; }

bool clips_by_norm(const Choice& clip) { return contract_of("clip", clip).reads_norm; }

bool decays(const Choice& weight_decay) { return !contract_of("weight_decay", weight_decay).does_nothing; }

bool decays_gradient(const Choice& weight_decay) { return contract_of("weight_decay", weight_decay).decays_gradient; }

namespace {

std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const Contract* contract : contracts_of("optimizer"))
    for (const StateTensor& tensor : contract->state) names.insert(tensor.name);
  return names;
}

}  // namespace

std::vector<const StateTensor*> state_of(const Choice& optimizer) {
  std::vector<const StateTensor*> found;
  for (const StateTensor& tensor : contract_of("optimizer", optimizer).state)
    if (tensor.present(optimizer)) found.push_back(&tensor);
  return found;
}

bool counts_steps(const Choice& optimizer) { return contract_of("optimizer", optimizer).counts_steps; }

const std::set<std::string>& state_names() {
  static const std::set<std::string> names = all_names();
  return names;
}

std::string_view parameter_of_state(std::string_view tensor) {
  const auto dot = tensor.find('.');
  if (dot == tensor.npos || !state_names().contains(std::string(tensor.substr(0, dot)))) return {};
  const std::string_view parameter = tensor.substr(dot + 1);
  return parameter.find('.') == parameter.npos ? std::string_view{} : parameter;  // a layer may be named "momentum"
}

namespace {

using Expected = std::map<std::string, ExpectedTensor>;

void add_layers(const Case& c, Expected& expected) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::int64_t features = features_before(c.model, i);
    for (const LayerTensor& tensor : tensors_of(layer)) {
      const std::vector<std::int64_t> shape = shape_in(c, tensor, layer, features);
      const Dtype dtype = tensor.role == Role::mask ? Dtype::u8 : c.precision.master;
      expected.insert_or_assign(layer.name + "." + tensor.name, ExpectedTensor{dtype, shape, true});
    }
  }
}

void add_batch(const Case& c, std::int64_t rows, Expected& expected) {
  const std::int64_t outputs = features_before(c.model, c.model.layers.size());
  if (c.model.tokens)
    expected.insert_or_assign("tokens", ExpectedTensor{Dtype::i64, {rows}, true});
  else
    expected.insert_or_assign("x", ExpectedTensor{c.precision.storage, {rows, c.model.input}, c.model.input > 0});
  if (reads_positions(c.model)) expected.insert_or_assign("positions", ExpectedTensor{Dtype::i64, {rows}, false});
  const Choice& loss = c.model.loss;
  if (is_opaque(loss)) return;
  if (has_class_targets(loss))
    expected.insert_or_assign("target", ExpectedTensor{Dtype::i64, {rows}, true});
  else
    expected.insert_or_assign("target", ExpectedTensor{c.precision.storage, {rows, outputs}, true});
  if (loss.options.contains("item_weights") && loss.flag("item_weights"))
    expected.insert_or_assign("item_weight", ExpectedTensor{Dtype::i64, {rows}, true});
}

}  // namespace

std::int64_t rows_of(const Case& c) {
  std::int64_t rows = 0;
  for (const auto& window : c.windows)
    for (const std::int64_t size : window) rows += size;
  return rows;
}

bool has_rows(const std::string& tensor) {
  for (const char* name : {"x", "tokens", "positions", "target", "item_weight"})
    if (tensor == name) return true;
  return tensor.ends_with(".mask");
}

std::map<std::string, ExpectedTensor> expected_tensors(const Case& c) {
  Expected expected;
  const std::int64_t rows = rows_of(c);
  add_batch(c, rows, expected);
  add_layers(c, expected);
  for (const std::string& parameter : parameters_of(c.model))
    for (const StateTensor* state : state_of(c.recipe.optimizer))
      if (const auto shape = shape_beside(*state, c.recipe.optimizer, expected.at(parameter).shape))
        expected.insert_or_assign(state->name + "." + parameter, ExpectedTensor{c.precision.master, *shape, false});
  expected.insert_or_assign("step", ExpectedTensor{Dtype::i64, {}, false});
  return expected;
}

}  // namespace tally
