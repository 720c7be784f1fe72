#include "properties/diagnosis/settings.hpp"

#include <algorithm>
#include <map>

#include "oracle/case/sections.hpp"

namespace tally {
namespace {

/// The sections of the recipe that a stage's formula names.
const std::vector<std::string>& sections_of(const std::string& stage) {
  static const std::map<std::string, std::vector<std::string>> all{{"loss", {"loss_scale"}},
                                                                   {"overflow_check", {"loss_scale"}},
                                                                   {"unscale", {"loss_scale"}},
                                                                   {"norm", {"clip"}},
                                                                   {"clip", {"clip"}},
                                                                   {"decay", {"weight_decay", "learning_rate"}},
                                                                   {"optimizer", {"optimizer", "learning_rate"}},
                                                                   {"scaler", {"loss_scale"}},
                                                                   {"schedule", {"learning_rate"}}};
  static const std::vector<std::string> none;
  const auto found = all.find(stage);
  return found == all.end() ? none : found->second;
}

bool gives_shapes(const std::string& option) {
  return option == "out" || option == "bias" || option == "affine" || option == "statistics";
}

using Set = std::function<void(Case& c, const std::string& option, const OptionValue& value)>;

void add_all(std::vector<Setting>& settings, const std::string& section, const Choice& choice, const Set& set) {
  const Contract* contract = find_contract(section, choice.kind);
  if (contract == nullptr) return;
  for (const Option& option : contract->options) {
    if (gives_shapes(option.name) || !choice.options.contains(option.name)) continue;
    settings.push_back({choice.kind, &option, &choice,
                        [set, name = option.name](Case& c, const OptionValue& value) { set(c, name, value); }});
  }
}

}  // namespace

bool affordable(const Evidence& evidence) {
  constexpr std::size_t most_elements = std::size_t{1} << 18;
  std::size_t elements = 0;
  for (const Tap& tap : evidence.trace.taps()) elements += tap.value.elements();
  return elements <= most_elements;
}

std::string layer_kind_of(const Case& c, const std::string& tensor) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i) + ".";
    const auto at = tensor.find(label);
    if (at == 0 || (at != std::string::npos && tensor[at - 1] == '.')) return c.model.layers[i].kind;
  }
  return "";
}

std::vector<Setting> settings_of(const Evidence& evidence) {
  std::vector<Setting> settings;
  const std::string& stage = evidence.check.stage;
  for (const std::string& wanted : sections_of(stage)) {
    for (const RecipeSection& section : recipe_sections) {
      if (section.name != wanted) continue;
      add_all(settings, wanted, evidence.c.recipe.*section.choice,
              [choice = section.choice](Case& c, const std::string& option, const OptionValue& value) {
                (c.recipe.*choice).options[option] = value;
              });
    }
  }
  if (stage == "loss") {
    add_all(settings, "loss", evidence.c.model.loss,
            [](Case& c, const std::string& option, const OptionValue& value) { c.model.loss.options[option] = value; });
  }
  if (stage != "forward" && stage != "backward" && stage != "running_stats") return settings;
  const std::string kind = layer_kind_of(evidence.c, tap_name_of(evidence.check.tap).tensor);
  for (const Layer& layer : evidence.c.model.layers) {
    if (layer.kind != kind) continue;
    add_all(settings, "layer", layer, [kind](Case& c, const std::string& option, const OptionValue& value) {
      for (Layer& each : c.model.layers) {
        if (each.kind == kind) each.options[option] = value;
      }
    });
    break;
  }
  return settings;
}

}  // namespace tally
