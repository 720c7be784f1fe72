// The JSON Schema of case files.
#include <algorithm>
#include <map>
#include <string>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/file/schema_parts.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

Json word_or_parameter(const std::vector<std::string>& words) {
  Json json = Json::object();
  json.add("anyOf", Json::array()).items = {one_of(words), matching("^[A-Za-z0-9_.-]*\\.[A-Za-z0-9_.-]*$")};
  return json;
}

/// Shapes by the names of tensors.
Json shapes_schema() {
  Json json = typed("object");
  json.add("propertyNames", matching("^[A-Za-z0-9_.-]+$"));
  json.add("additionalProperties", list_of(ranged("integer", {.at_least = "1"})));
  return json;
}

Json option_schema(const Option& option) {
  const auto by_type = [&] {
    switch (option.type) {
      case OptionType::boolean:
        return typed("boolean");
      case OptionType::integer:
        return ranged("integer", option.range);
      case OptionType::number:
        return ranged("number", option.range);
      case OptionType::text:
        return one_of(option.words);
      case OptionType::number_list:
        return list_of(ranged("number", option.range));
      case OptionType::text_list:
        return list_of(option.parameters ? word_or_parameter(option.words) : one_of(option.words));
      case OptionType::shapes:
        return shapes_schema();
    }
    return Json::object();
  };
  Json json = by_type();
  if (option.standard) json.add("default", write_option(*option.standard));
  return json;
}

/// Whether a layer of this kind has a tensor however its boolean options stand, the others at their defaults.
bool always_has_tensors(const Contract& contract) {
  std::vector<std::string> flags;
  for (const Option& option : contract.options)
    if (option.type == OptionType::boolean) flags.push_back(option.name);
  for (std::size_t setting = 0; setting < std::size_t{1} << flags.size(); ++setting) {
    Choice layer{contract.kind, {}};
    for (const Option& option : contract.options)
      if (option.standard) layer.options[option.name] = *option.standard;
    for (std::size_t i = 0; i < flags.size(); ++i) layer.options[flags[i]] = (setting >> i & 1) != 0;
    bool any = false;
    for (const LayerTensor& tensor : contract.tensors) any = any || tensor.present(layer);
    if (!any) return false;
  }
  return true;
}

Json requiring(const std::string& key) {
  Json json = Json::object();
  json.add("required", Json::array()).items = {Json::of_string(key)};
  return json;
}

/// An object that has one of two keys, or both.
Json with_either(Json object, const std::string& one, const std::string& other) {
  object.add("anyOf", Json::array()).items = {requiring(one), requiring(other)};
  return object;
}

Json choice_schema(const Contract& contract) {
  ObjectSchema object;
  Json kind = Json::object();
  kind.add("const", Json::of_string(contract.kind));
  object.required("kind", std::move(kind));
  for (const Option& option : contract.options) {
    if (option.standard || option.name == contract.tied_sets)
      object.optional(option.name, option_schema(option));
    else
      object.required(option.name, option_schema(option));
  }
  if (contract.section == "layer") {
    Json name = matching("^[A-Za-z0-9_-]+$");
    if (!contract.parameters_by.empty() || always_has_tensors(contract))
      object.required("name", std::move(name));
    else
      object.optional("name", std::move(name));
    Json inputs = list_of(matching("^[A-Za-z0-9_-]+$"), std::to_string(contract.least_inputs).c_str());
    inputs.add("maxItems", Json::of_number(std::to_string(contract.most_inputs)));
    if (contract.least_inputs > 1)
      object.required("inputs", std::move(inputs));
    else
      object.optional("inputs", std::move(inputs));
    if (!contract.tied_sets.empty()) object.optional("tied", matching("^[A-Za-z0-9_-]+$"));
    if (std::ranges::count(contract.tensors, Role::parameter, &LayerTensor::role) > 0)
      object.optional("trainable", typed("boolean"));
  }
  Json json = object.take();
  if (!contract.tied_sets.empty()) json = with_either(std::move(json), contract.tied_sets, "tied");
  json.add("description", Json::of_string(contract.definition));
  return json;
}

Json section_schema(std::string_view section) {
  Json choices = Json::array();
  for (const Contract* contract : contracts_of(section)) choices.items.push_back(choice_schema(*contract));
  Json json = Json::object();
  json.add("oneOf", std::move(choices));
  return json;
}

Json tensor_schema() {
  Json hexadecimal = typed("string");
  hexadecimal.add("pattern", Json::of_string("^[+-]?0[xX]([0-9a-fA-F]+\\.?[0-9a-fA-F]*|\\.[0-9a-fA-F]+)"
                                             "[pP][+-]?[0-9]+$"));
  Json element = Json::object();
  Json& forms = element.add("anyOf", Json::array());
  forms.items = {typed("number"), std::move(hexadecimal)};
  return ObjectSchema{}
      .required("dtype", one_of(dtype_names()))
      .required("shape", list_of(ranged("integer", {.at_least = "0"})))
      .required("data", list_of(std::move(element)))
      .take();
}

Json tensors_schema() {
  Json inline_tensors = typed("object");
  inline_tensors.add("additionalProperties", tensor_schema());
  Json json = Json::object();
  Json& forms = json.add("oneOf", Json::array());
  forms.items = {ObjectSchema{}.required("file", typed("string")).take(), std::move(inline_tensors)};
  return json;
}

/// Features of x, or the vocabulary of tokens.
Json input_schema() {
  Json json = Json::object();
  json.add("oneOf", Json::array()).items = {
      ranged("integer", {.at_least = "0"}),
      ObjectSchema{}.required("vocabulary", ranged("integer", {.at_least = "1"})).take()};
  return json;
}

Json model_schema() {
  return ObjectSchema{}
      .required("input", input_schema())
      .required("layers", list_of(section_schema("layer")))
      .required("loss", section_schema("loss"))
      .take();
}

Json precision_schema() {
  ObjectSchema object;
  for (const PrecisionKey& key : precision_keys) object.required(std::string(key.name), one_of(words_of(key)));
  return object.required("tf32", typed("boolean")).take();
}

Json recipe_schema() {
  ObjectSchema object;
  for (const RecipeSection& section : recipe_sections)
    object.required(std::string(section.name), section_schema(section.name));
  return object.take();
}

Json normalisation_schema() {
  std::vector<std::string> words;
  for (const Normalisation normalisation : normalisations) words.emplace_back(name_of(normalisation));
  return one_of(words);
}

/// The words of gemm.<choice>; a number as its digits.
Json gemm_choices_schema() {
  Json properties = Json::object();
  for (const GemmChoiceKey& key : gemm_choice_keys) {
    std::vector<std::string> words;
    for (const std::string_view word : key.words) {
      if (!word.empty()) words.emplace_back(word);
    }
    Json digits = typed("string");
    digits.add("pattern", Json::of_string(key.least == 0 ? "^(0|[1-9][0-9]{0,9})$" : "^[1-9][0-9]{0,9}$"));
    properties.add(std::string(key.name), words.empty() ? std::move(digits) : one_of(words));
  }
  return properties;
}

/// Every operation but a choice that does not exist.
Json operations_schema() {
  std::string known;
  for (const GemmChoiceKey& key : gemm_choice_keys)
    known += (known.empty() ? "" : "|") + std::string(key.name.substr(5));
  Json json = Json::object();
  json.add("pattern", Json::of_string("^(?!gemm\\.)|^gemm\\.(" + known + ")$"));
  return json;
}

/// The keys of rank_keys(), each in its object.
Json ranks_schema() {
  ObjectSchema ranks;
  std::map<std::string, ObjectSchema> objects;
  for (const RankKey& key : rank_keys())
    (key.object.empty() ? ranks : objects[key.object]).optional(key.option.name, option_schema(key.option));
  for (auto& [name, object] : objects) ranks.optional(name, object.take());
  return ranks.take();
}

/// The sizes of a window's micro-batches, or those of each rank: of one alone where another window has several.
Json window_schema() {
  const auto size = [] { return ranged("integer", {.at_least = "1"}); };
  Json json = Json::object();
  json.add("oneOf", Json::array()).items = {list_of(size(), "1"), list_of(list_of(size()), "1")};
  return json;
}

Json execution_schema() {
  Json kernels = typed("object");
  kernels.add("properties", gemm_choices_schema());
  kernels.add("propertyNames", operations_schema());
  kernels.add("additionalProperties", typed("string"));
  Json schedule = Json::object();
  schedule.add("oneOf", Json::array()).items = {ranged("integer", {.at_least = "0"}),
                                                list_of(ObjectSchema{}
                                                            .required("launch", ranged("integer", {.at_least = "1"}))
                                                            .required("step", ranged("integer", {.at_least = "1"}))
                                                            .required("pick", ranged("integer", {.at_least = "1"}))
                                                            .take())};
  Json recompute = Json::object();
  recompute.add("oneOf", Json::array()).items = {typed("boolean"), list_of(typed("string"), "1")};
  return ObjectSchema{}
      .optional("recompute", std::move(recompute))
      .optional("order", ranged("integer", {.at_least = "0"}))
      .optional("schedule", std::move(schedule))
      .optional("kernels", std::move(kernels))
      .optional("ranks", ranks_schema())
      .take();
}

}  // namespace

std::string json_schema() {
  Json version = Json::object();
  version.add("enum", Json::array()).items = {Json::of_number("1"), Json::of_number("2"), Json::of_number("3")};
  Json json = ObjectSchema{}
                  .required("tally_case", std::move(version))
                  .optional("name", typed("string"))
                  .required("model", model_schema())
                  .required("windows", list_of(window_schema(), "1"))
                  .optional("sequences", list_of(ranged("integer", {.at_least = "1"}), "1"))
                  .optional("normalisation", normalisation_schema())
                  .required("precision", precision_schema())
                  .required("recipe", recipe_schema())
                  .optional("execution", execution_schema())
                  .required("tensors", tensors_schema())
                  .take();
  json.add("$schema", Json::of_string("https://json-schema.org/draft/2020-12/schema"));
  json.add("title", Json::of_string("Tally case"));
  return to_text(json, JsonLayout::readable);
}

}  // namespace tally
