#include "oracle/layers/contract.hpp"

#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "oracle/registered_files.hpp"

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

RegisterContract::RegisterContract(Contract contract, std::source_location at) {
  note_registered(at);
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

}  // namespace tally
