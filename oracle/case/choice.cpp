#include "oracle/case/choice.hpp"

#include <algorithm>

#include "oracle/case/option.hpp"
#include "oracle/layers/contract.hpp"

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

}  // namespace tally
