// Sections by their contracts, windows, execution, and the version that a case needs.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

std::vector<std::string> kinds_of(std::string_view section) {
  std::vector<std::string> kinds;
  for (const Contract* contract : contracts_of(section)) kinds.push_back(contract->kind);
  return kinds;
}

const Option* find_option(const Contract& contract, const std::string& name) {
  const auto found = std::find_if(contract.options.begin(), contract.options.end(),
                                  [&](const Option& option) { return option.name == name; });
  return found == contract.options.end() ? nullptr : &*found;
}

void read_options(const Contract& contract, ObjectReader& object, std::string_view given_elsewhere, Choice& choice) {
  for (const Option& option : contract.options) {
    const Json* json = object.optional(option.name);
    if (json == nullptr && !option.standard && option.name != given_elsewhere)
      object.findings().add_broken(object.path(option.name), "nothing", allowed(option));
    std::optional<OptionValue> value = option.standard;
    if (json != nullptr) value = read_option(option, *json, object.path(option.name), object.findings());
    if (value) choice.options.emplace(option.name, *std::move(value));
  }
}

}  // namespace

Choice read_choice(ObjectReader& object, std::string_view section, std::string_view given_elsewhere) {
  Choice choice;
  const std::string path = object.path("kind");
  const Json* json = object.optional("kind");
  if (json == nullptr && object.findings().sound(path))
    object.findings().add_broken(path, "nothing", "one of " + quoted_list(kinds_of(section)));
  const auto kind = read_word(json, path, kinds_of(section), object.findings());
  if (!kind) return choice;
  choice.kind = *kind;
  read_options(*find_contract(section, *kind), object, given_elsewhere, choice);
  return choice;
}

void check_choice(const Choice& choice, std::string_view section, const std::string& path, Findings& findings) {
  const Contract* contract = find_contract(section, choice.kind);
  if (contract == nullptr) {
    if (!findings.sound(member_path(path, "kind"))) return;
    findings.add_broken(member_path(path, "kind"), json_string(choice.kind),
                        "one of " + quoted_list(kinds_of(section)));
    return;
  }
  for (const Option& option : contract->options) {
    const auto value = choice.options.find(option.name);
    const std::string at = member_path(path, option.name);
    if (value != choice.options.end())
      check_option(option, value->second, at, findings);
    else if (findings.sound(at))
      findings.add_broken(at, "nothing", allowed(option));
  }
  for (const auto& [name, value] : choice.options)
    if (find_option(*contract, name) == nullptr)
      findings.add_broken(member_path(path, name), "an unknown option", "an option of " + choice.kind);
}

Json write_choice(const Choice& choice, std::string_view section) {
  const Contract* contract = find_contract(section, choice.kind);
  const auto left_out = [&](const std::string& name, const OptionValue& value) {
    const Option* option = contract == nullptr ? nullptr : find_option(*contract, name);
    return option != nullptr && option->since > 1 && value == option->standard;
  };
  Json json = Json::object();
  json.add("kind", Json::of_string(choice.kind));
  for (const auto& [name, value] : choice.options)
    if (!left_out(name, value)) json.add(name, write_option(value));
  return json;
}

std::int64_t version_of(const Choice& choice, std::string_view section) {
  std::int64_t version = 1;
  const Contract* contract = find_contract(section, choice.kind);
  if (contract == nullptr) return version;
  for (const Option& option : contract->options) {
    const auto value = choice.options.find(option.name);
    if (value != choice.options.end() && value->second != option.standard) version = std::max(version, option.since);
  }
  return version;
}

namespace {

constexpr const char* expected = "a list of micro-batch sizes, or of such lists, one a rank";

bool is_nested(const Json& json) {
  return json.is(Json::Kind::array) && std::ranges::any_of(json.items, [](const Json& window) {
           return window.is(Json::Kind::array) && !window.items.empty() && window.items[0].is(Json::Kind::array);
         });
}

void read_sizes(const Json& json, const std::string& path, std::vector<std::int64_t>& sizes, Findings& findings) {
  if (!json.is(Json::Kind::array)) findings.add_broken(path, shown(json), expected);
  for (std::size_t k = 0; json.is(Json::Kind::array) && k < json.items.size(); ++k)
    sizes.push_back(read_integer(&json.items[k], element_path(path, k), findings).value_or(1));
}

}  // namespace

void read_windows(const Json* json, Case& c, Findings& findings) {
  if (json == nullptr) return;
  if (!json->is(Json::Kind::array)) findings.add_broken("$.windows", shown(*json), "a list of windows");
  const bool nested = is_nested(*json);
  for (std::size_t w = 0; json->is(Json::Kind::array) && w < json->items.size(); ++w) {
    const Json& window = json->items[w];
    const std::string path = element_path("$.windows", w);
    std::vector<std::int64_t>& sizes = c.windows.emplace_back();
    if (!nested) {
      read_sizes(window, path, sizes, findings);
      continue;
    }
    std::vector<std::int64_t>& counts = c.dealt.emplace_back();
    if (!window.is(Json::Kind::array)) findings.add_broken(path, shown(window), "a list of sizes for each rank");
    for (std::size_t r = 0; window.is(Json::Kind::array) && r < window.items.size(); ++r) {
      const std::size_t before = sizes.size();
      read_sizes(window.items[r], element_path(path, r), sizes, findings);
      counts.push_back(static_cast<std::int64_t>(sizes.size() - before));
    }
  }
}

namespace {

std::int64_t read_drawing_number(ObjectReader& object, const char* key, Findings& findings) {
  const auto number = read_integer(object.optional(key), object.path(key), findings);
  if (number && *number < 0) findings.add(object.path(key), std::to_string(*number), "an integer >= 0");
  return number.value_or(0);
}

/// One number draws the schedule, a list writes it down.
void read_schedule(ObjectReader& object, Execution& execution, Findings& findings) {
  const Json* json = object.optional("schedule");
  if (json == nullptr || !json->is(Json::Kind::array)) {
    execution.schedule = read_drawing_number(object, "schedule", findings);
    return;
  }
  for (std::size_t i = 0; i < json->items.size(); ++i) {
    ObjectReader entry(&json->items[i], element_path(object.path("schedule"), i), findings);
    Preemption& preemption = execution.preemptions.emplace_back();
    for (auto [key, place] :
         {std::pair{"launch", &preemption.launch}, {"step", &preemption.step}, {"pick", &preemption.pick}}) {
      const auto number = read_integer(entry.required(key), entry.path(key), findings);
      if (number && *number < 1) findings.add(entry.path(key), std::to_string(*number), "an integer >= 1");
      *place = static_cast<std::uint64_t>(number.value_or(1));
    }
    entry.finish();
  }
}

/// A boolean for all layers, or the list of those that run again.
void read_recompute(ObjectReader& object, Execution& execution, Findings& findings) {
  const Json* json = object.optional("recompute");
  const std::string path = object.path("recompute");
  if (json == nullptr || !json->is(Json::Kind::array)) {
    execution.recompute = read_boolean(json, path, findings).value_or(false);
    return;
  }
  execution.recompute = true;
  if (json->items.empty()) findings.add(path, "[]", "the labels of layers, true for all of them, or false");
  for (std::size_t i = 0; i < json->items.size(); ++i)
    if (auto label = read_text(&json->items[i], element_path(path, i), findings))
      execution.recomputed.push_back(std::move(*label));
}

std::map<std::string, std::string> read_kernels(const Json* json, const std::string& path, Findings& findings) {
  std::map<std::string, std::string> kernels;
  if (json == nullptr) return kernels;
  if (!json->is(Json::Kind::object)) findings.add(path, shown(*json), "an object: operation -> variant");
  for (std::size_t i = 0; i < json->keys.size(); ++i)
    if (auto name = read_text(&json->items[i], member_path(path, json->keys[i]), findings))
      kernels[json->keys[i]] = std::move(*name);
  return kernels;
}

/// Keys that say what their absence would say are left out, so that a case has one text.
void read_ranks(const Json* json, const std::string& path, Execution& execution, Findings& findings) {
  if (json == nullptr) return;
  ObjectReader ranks(json, path, findings);
  std::map<std::string, std::optional<ObjectReader>> objects;
  for (const RankKey& key : rank_keys()) {
    ObjectReader* object = &ranks;
    if (!key.object.empty()) {
      auto& inner = objects[key.object];
      const Json* found = inner ? nullptr : ranks.optional(key.object);
      if (found != nullptr) inner.emplace(found, ranks.path(key.object), findings);
      if (!inner) continue;
      object = &*inner;
    }
    const Json* value = object->optional(key.option.name);
    const auto read =
        value == nullptr ? std::nullopt : read_option(key.option, *value, object->path(key.option.name), findings);
    if (read) set_rank_option(execution, key.name(), *read);
  }
  for (const auto& [name, object] : objects)
    if (object) object->finish();
  execution.ranks.kind = "ranks";
  ranks.finish();
}

}  // namespace

Execution read_execution(const Json* json, Findings& findings) {
  Execution execution;
  if (json == nullptr) return execution;
  ObjectReader object(json, "$.execution", findings);
  read_recompute(object, execution, findings);
  execution.order = read_drawing_number(object, "order", findings);
  read_schedule(object, execution, findings);
  execution.kernels = read_kernels(object.optional("kernels"), object.path("kernels"), findings);
  read_ranks(object.optional("ranks"), object.path("ranks"), execution, findings);
  object.finish();
  return execution;
}

namespace {

bool is_of_ranks(const Model& model) { return std::ranges::any_of(model.layers, takes_step_statistics); }

}  // namespace

std::string what_needs_version(const Case& c) {
  if (!c.dealt.empty()) return "the micro-batches are dealt to ranks";
  if (!c.execution.ranks.kind.empty()) return "execution says how ranks work together";
  if (c.normalisation == Normalisation::rank_means) return "the normalisation is of ranks";
  if (is_of_ranks(c.model)) return "batch_norm takes statistics of all ranks";
  if (!is_chain(c.model)) return "a layer names its inputs";
  if (c.model.tokens) return "the model reads tokens";
  if (!c.sequences.empty()) return "the rows are sequences";
  if (c.execution.recompute && !c.execution.recomputed.empty()) return "some layers alone run again in backward";
  const auto is_younger = [](const Layer& layer) {
    const Contract* contract = find_contract("layer", layer.kind);
    return version_of(layer, "layer") > 1 || !layer.tied.empty() || !layer.trainable ||
           (contract != nullptr && contract->reads_positions);
  };
  if (std::ranges::any_of(c.model.layers, is_younger)) return "a layer is of that version";
  return version_of(c.model.loss, "loss") > 1 ? "the loss has an option of that version" : "";
}

std::int64_t version_of(const Case& c) {
  if (in_ranks(c) || c.normalisation == Normalisation::rank_means || is_of_ranks(c.model)) return 3;
  return what_needs_version(c).empty() ? 1 : 2;
}

}  // namespace tally
