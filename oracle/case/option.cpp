#include "oracle/case/option.hpp"

#include "oracle/case/decimal.hpp"
#include "oracle/case/read_object.hpp"

namespace tally {
namespace {

bool is_number(const Json& json) { return json.is(Json::Kind::number) && decimal_parts(json.text); }

/// The word a value stands for: a string as it is, a number as the numeric word it equals.
std::optional<std::string> word_of(const Option& option, const Json& json) {
  for (const std::string& word : option.words) {
    const bool numeric = decimal_parts(word).has_value();
    if (numeric && is_number(json) && compare_decimals(json.text, word) == 0) return word;
    if (!numeric && json.is(Json::Kind::string) && json.text == word) return word;
  }
  if (option.parameters && json.is(Json::Kind::string) && names_parameter(json.text)) return json.text;
  return std::nullopt;
}

std::optional<OptionValue> converted(const Option& option, const Json& json) {
  switch (option.type) {
    case OptionType::boolean:
      if (json.is(Json::Kind::boolean)) return json.text == "true";
      break;
    case OptionType::integer:
      if (json.is(Json::Kind::number))
        if (const auto value = exact_integer(json.text)) return *value;
      break;
    case OptionType::number:
      if (is_number(json)) return Decimal{json.text};
      break;
    case OptionType::text:
      if (auto word = word_of(option, json)) return *std::move(word);
      break;
    case OptionType::number_list:
    case OptionType::text_list:
    case OptionType::shapes:
      break;  // element by element, in read_list and read_shapes
  }
  return std::nullopt;
}

/// A list whose elements convert as options of `element` type do; every element that does not is a finding.
template <class T>
std::optional<OptionValue> read_list(Option option, OptionType element, const Json& json, const std::string& path,
                                     Findings& findings) {
  option.type = element;
  std::vector<T> values;
  for (std::size_t i = 0; i < json.items.size(); ++i)
    if (auto value = read_option(option, json.items[i], element_path(path, i), findings))
      values.push_back(std::get<T>(*std::move(value)));
  if (values.size() != json.items.size()) return std::nullopt;
  return values;
}

/// An object of lists of integers.
std::optional<OptionValue> read_shapes(const Json& json, const std::string& path, Findings& findings) {
  Shapes shapes;
  bool sound = true;
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    const std::string at = member_path(path, json.keys[i]);
    std::vector<std::int64_t>& shape = shapes[json.keys[i]];
    if (!json.items[i].is(Json::Kind::array)) {
      findings.add_broken(at, shown(json.items[i]), "a shape, a list of integers");
      sound = false;
      continue;
    }
    for (std::size_t k = 0; k < json.items[i].items.size(); ++k) {
      const auto extent = read_integer(&json.items[i].items[k], element_path(at, k), findings);
      sound = sound && extent.has_value();
      shape.push_back(extent.value_or(1));
    }
  }
  if (!sound) return std::nullopt;
  return shapes;
}

Json word_json(const std::string& word) { return decimal_parts(word) ? Json::of_number(word) : Json::of_string(word); }

/// Writes any value; only words depend on more than the type.
struct ValueWriter {
  Json operator()(bool value) const { return Json::of_boolean(value); }
  Json operator()(std::int64_t value) const { return Json::of_number(std::to_string(value)); }
  Json operator()(const Decimal& value) const { return Json::of_number(value.text); }
  Json operator()(const std::string& value) const { return word_json(value); }
  Json operator()(const std::vector<Decimal>& values) const {
    Json list = Json::array();
    for (const Decimal& value : values) list.items.push_back(Json::of_number(value.text));
    return list;
  }
  Json operator()(const std::vector<std::string>& values) const {
    Json list = Json::array();
    for (const std::string& value : values) list.items.push_back(word_json(value));
    return list;
  }
  Json operator()(const Shapes& shapes) const {
    Json json = Json::object();
    for (const auto& [name, shape] : shapes) {
      Json list = Json::array();
      for (const std::int64_t extent : shape) list.items.push_back(Json::of_number(std::to_string(extent)));
      json.add(name, std::move(list));
    }
    return json;
  }
};

}  // namespace

std::optional<OptionValue> read_option(const Option& option, const Json& json, const std::string& path,
                                       Findings& findings) {
  if (json.is(Json::Kind::array) && option.type == OptionType::number_list)
    return read_list<Decimal>(option, OptionType::number, json, path, findings);
  if (json.is(Json::Kind::array) && option.type == OptionType::text_list)
    return read_list<std::string>(option, OptionType::text, json, path, findings);
  if (json.is(Json::Kind::object) && option.type == OptionType::shapes) return read_shapes(json, path, findings);
  auto value = converted(option, json);
  if (!value && findings.sound(path)) findings.add_broken(path, shown(json), allowed(option));
  return value;
}

Json write_option(const OptionValue& value) { return std::visit(ValueWriter{}, value); }

}  // namespace tally
