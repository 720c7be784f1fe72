// The options of a case that the failing stage works by.
#include "properties/diagnosis/settings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "oracle/case/file/parts.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/graph/stage.hpp"

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
  return option == "out" || option == "bias" || option == "affine" || option == "statistics" || option == "running";
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

bool affordable(const Trace& trace, std::size_t evaluations) {
  constexpr std::size_t most_elements = std::size_t{1} << 25;
  std::size_t elements = 0;
  for (const Tap& tap : trace.taps()) elements += tap.value.elements();
  return elements <= most_elements / evaluations;
}

namespace {

std::optional<std::size_t> layer_at(const Case& c, const std::string& tensor) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i) + ".";
    const auto at = tensor.find(label);
    if (at == 0 || (at != std::string::npos && tensor[at - 1] == '.')) return i;
  }
  return std::nullopt;
}

/// Adds the kind of a layer; for a group, those of the layers that left no taps before this one, too: what they do
/// shows in it alone.
void add_kinds(std::set<std::string>& kinds, const Evidence& evidence, std::size_t layer) {
  const Model& model = evidence.c.model;
  kinds.insert(model.layers[layer].kind);
  const TapName at = tap_name_of(evidence.check.tap);
  if (evidence.check.lens != "group" || at.stage != StageName::forward) return;
  for (const LayerInput input : inputs_of(model, layer)) {
    if (input == model_input) continue;
    const auto read = static_cast<std::size_t>(input);
    const TapName left{at.window, at.micro_batch, "forward", label_of(model, read) + ".y"};
    if (evidence.trace.find(left.view()) == nullptr) add_kinds(kinds, evidence, read);
  }
}

std::set<std::string> kinds_at_work(const Evidence& evidence) {
  std::set<std::string> kinds;
  if (const auto layer = layer_at(evidence.c, tap_name_of(evidence.check.tap).tensor))
    add_kinds(kinds, evidence, *layer);
  return kinds;
}

}  // namespace

std::string layer_kind_of(const Case& c, const std::string& tensor) {
  const auto layer = layer_at(c, tensor);
  return layer ? c.model.layers[*layer].kind : "";
}

std::vector<Setting> settings_of(const Evidence& evidence) {
  std::vector<Setting> settings;
  const std::string stage = tap_name_of(evidence.check.tap).stage;
  for (const std::string& wanted : sections_of(stage)) {
    for (const RecipeSection& section : recipe_sections) {
      if (section.name != wanted) continue;
      add_all(settings, wanted, evidence.c.recipe.*section.choice,
              [choice = section.choice](Case& c, const std::string& option, const OptionValue& value) {
                (c.recipe.*choice).options[option] = value;
              });
    }
  }
  if (stage == StageName::loss) {
    add_all(settings, "loss", evidence.c.model.loss,
            [](Case& c, const std::string& option, const OptionValue& value) { c.model.loss.options[option] = value; });
  }
  if (stage != StageName::forward && stage != StageName::backward && stage != StageName::running_stats) return settings;
  for (const std::string& kind : kinds_at_work(evidence)) {
    const auto first = std::ranges::find(evidence.c.model.layers, kind, &Layer::kind);
    add_all(settings, "layer", *first, [kind](Case& c, const std::string& option, const OptionValue& value) {
      for (Layer& each : c.model.layers) {
        if (each.kind == kind) each.options[option] = value;
      }
    });
  }
  return settings;
}

}  // namespace tally
