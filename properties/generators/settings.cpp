#include "properties/generators/settings.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "oracle/case/file/parts.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

constexpr std::string_view of_ranks = "ranks", of_items = "normalisation", trainable = "trainable";

/// What it computes is stated, in one pass: a second pass over other rows than the first makes no case.
bool is_stated(const Contract& contract) { return !contract.opaque && contract.passes == 1; }

/// A list that is required has no value of its own that is worth drawing: what it says goes with the case.
bool is_drawn(const Option& option) { return option.standard || option.type != OptionType::number_list; }

std::string name_of_setting(const CaseSetting& s) {
  if (s.section == of_ranks) return "ranks, " + s.kind + " = " + name_of_value(s.value);
  const std::string kind = s.section + (s.section == of_items ? ", " : " ") + s.kind;
  return s.is_option() ? kind + ", " + s.option + " = " + name_of_value(s.value) : kind;
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> all{"layer", "loss"};
  for (const RecipeSection& section : recipe_sections) all.push_back(section.name);
  return all;
}

/// Words and flags; numbers are sizes (oracle/case/sizes.hpp).
std::vector<OptionValue> values_of(const RankKey& key) {
  std::vector<OptionValue> values;
  for (const std::string& word : key.option.words) values.emplace_back(word);
  if (key.option.type == OptionType::boolean) values = {false, true};
  return values;
}

std::vector<CaseSetting> all_settings() {
  std::vector<CaseSetting> all;
  for (const std::string_view section : sections())
    for (const Contract* contract : contracts_of(section))
      if (is_stated(*contract)) all.push_back({std::string(section), contract->kind});
  for (const Normalisation each : normalisations) all.push_back({std::string(of_items), std::string(name_of(each))});
  for (const RankKey& key : rank_keys())
    for (const OptionValue& value : values_of(key)) all.push_back({std::string(of_ranks), key.name(), "", value});
  for (const std::string_view section : sections())
    for (const Contract* contract : contracts_of(section))
      for (const Option& option : contract->options)
        for (const OptionValue& value : values_worth_drawing(*contract, option))
          if (is_stated(*contract) && is_drawn(option))
            all.push_back({std::string(section), contract->kind, option.name, value});
  for (const Contract* contract : contracts_of("layer"))
    for (const bool trains : {true, false})
      if (is_stated(*contract) && std::ranges::count(contract->tensors, Role::parameter, &LayerTensor::role) > 0)
        all.push_back({"layer", contract->kind, std::string(trainable), trains});
  for (CaseSetting& setting : all) setting.name = name_of_setting(setting);
  return all;
}

class Said {
 public:
  Said() {
    for (std::size_t i = 0; i < settings().size(); ++i) places_.emplace(settings()[i].name, i);
  }
  void add(CaseSetting setting, std::set<std::size_t>& places) const {
    const auto found = places_.find(name_of_setting(setting));
    if (found != places_.end()) places.insert(found->second);
  }

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

bool is_of_pipelines(std::string_view key) { return key.starts_with("pipeline."); }

/// Whether ranks, or stages, do anything by a key.
bool follows(const Case& c, const std::string& key) {
  return is_of_pipelines(key) ? is_pipelined(c) : most_ranks_of(c) > 1;
}

/// A case has one alone of those in a slot, and of layers as many as it likes.
bool share_a_slot(const CaseSetting& a, const CaseSetting& b) {
  return a.section == b.section && a.section != "layer" && (a.section != of_ranks || a.kind == b.kind);
}

bool may_stand_together(const CaseSetting& a, const CaseSetting& b) {
  if (a.is_option() && b.is_option()) return false;
  return !share_a_slot(a, b) && (a.section != b.section || a.kind != b.kind);
}

}  // namespace

const std::vector<CaseSetting>& settings() {
  static const std::vector<CaseSetting> all = all_settings();
  return all;
}

std::set<std::size_t> settings_of(const Case& c) {
  static const Said said;
  std::set<std::size_t> places;
  const auto add = [&](std::string_view section, const Choice& choice) {
    said.add({std::string(section), choice.kind}, places);
    for (const auto& [option, value] : choice.options)
      said.add({std::string(section), choice.kind, option, value}, places);
  };
  for (const Layer& layer : c.model.layers) {
    add("layer", layer);
    said.add({"layer", layer.kind, std::string(trainable), layer.trainable}, places);
  }
  add("loss", c.model.loss);
  for (const RecipeSection& section : recipe_sections) add(section.name, c.recipe.*section.choice);
  said.add({std::string(of_items), std::string(name_of(c.normalisation))}, places);
  for (const RankKey& key : rank_keys())
    if (follows(c, key.name())) said.add({std::string(of_ranks), key.name(), "", rank_option(c, key.name())}, places);
  return places;
}

bool make_a_pair(std::size_t a, std::size_t b) {
  static const std::vector<std::vector<bool>> pairs = [] {
    std::vector<std::vector<bool>> rows;
    for (const CaseSetting& one : settings())
      for (rows.emplace_back(); rows.back().size() < settings().size();)
        rows.back().push_back(may_stand_together(one, settings()[rows.back().size()]));
    return rows;
  }();
  return pairs.at(a).at(b);
}

}  // namespace tally
