// One option of a contract: read, written, checked.
#include <algorithm>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"

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

namespace {

bool within(const Range& range, const std::string& number) {
  if (!range.above.empty() && !(compare_decimals(number, range.above) > 0)) return false;
  if (!range.at_least.empty() && !(compare_decimals(number, range.at_least) >= 0)) return false;
  if (!range.below.empty() && !(compare_decimals(number, range.below) < 0)) return false;
  return range.at_most.empty() || compare_decimals(number, range.at_most) <= 0;
}

std::string range_text(const Range& range) {
  std::string text;
  const auto side = [&](const char* sign, const std::string& limit) {
    if (!limit.empty()) text += (text.empty() ? " " : " and ") + std::string(sign) + " " + limit;
  };
  side(">", range.above);
  side(">=", range.at_least);
  side("<", range.below);
  side("<=", range.at_most);
  return text;
}

constexpr const char* tensor_names = "a tensor's name: letters, digits, _, - and .";

bool is_tensor_name(const std::string& name) {
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !name.empty() && name.find_first_not_of(letters) == std::string::npos;
}

/// Checks one value of an option's type against its range and words.
struct ValueCheck {
  const Option& option;
  const std::string& path;
  Findings& findings;

  bool is(OptionType type) const {
    if (option.type != type) findings.add_broken(path, "a value of another type", allowed(option));
    return option.type == type;
  }
  void decimal(const Decimal& number, const std::string& at) const {
    if (!decimal_parts(number.text))
      findings.add_broken(at, json_string(number.text.substr(0, 60)), "a decimal number, its exponent within +-300");
    else if (!within(option.range, number.text))
      findings.add(at, number.text.substr(0, 60), "a number" + range_text(option.range));
  }
  void word(const std::string& text, const std::string& at) const {
    const bool listed = std::find(option.words.begin(), option.words.end(), text) != option.words.end();
    if (!listed && !(option.parameters && names_parameter(text)))
      findings.add_broken(at, json_string(text.substr(0, 60)), allowed(option));
  }

  void operator()(bool) const { is(OptionType::boolean); }
  void operator()(std::int64_t value) const {
    if (is(OptionType::integer) && !within(option.range, std::to_string(value)))
      findings.add_broken(path, std::to_string(value), allowed(option));
  }
  void operator()(const Decimal& value) const {
    if (is(OptionType::number)) decimal(value, path);
  }
  void operator()(const std::string& value) const {
    if (is(OptionType::text)) word(value, path);
  }
  void operator()(const std::vector<Decimal>& values) const {
    if (!is(OptionType::number_list)) return;
    for (std::size_t i = 0; i < values.size(); ++i) decimal(values[i], element_path(path, i));
  }
  void operator()(const std::vector<std::string>& values) const {
    if (!is(OptionType::text_list)) return;
    for (std::size_t i = 0; i < values.size(); ++i) word(values[i], element_path(path, i));
  }
  void operator()(const Shapes& shapes) const {
    if (!is(OptionType::shapes)) return;
    for (const auto& [name, shape] : shapes) {
      const std::string at = member_path(path, name);
      if (!is_tensor_name(name)) findings.add_broken(at, json_string(name.substr(0, 60)), tensor_names);
      for (std::size_t k = 0; k < shape.size(); ++k)
        if (shape[k] < 1) findings.add_broken(element_path(at, k), std::to_string(shape[k]), "an integer >= 1");
    }
  }
};

std::string words_text(const Option& option) {
  std::string text;
  for (const std::string& word : option.words)
    text += (text.empty() ? "" : ", ") + (decimal_parts(word) ? word : json_string(word));
  return text;
}

}  // namespace

std::string allowed(const Option& option) {
  switch (option.type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "an integer" + range_text(option.range);
    case OptionType::number:
      return "a number" + range_text(option.range);
    case OptionType::text:
      return "one of " + words_text(option);
    case OptionType::number_list:
      return "a list, each a number" + range_text(option.range);
    case OptionType::text_list:
      return "a list, each one of " + words_text(option) + (option.parameters ? ", or a parameter's name" : "");
    case OptionType::shapes:
      return "an object: the name of a tensor and its shape, a list of integers >= 1";
  }
  return {};
}

bool names_parameter(const std::string& text) { return is_tensor_name(text) && text.find('.') != std::string::npos; }

void check_option(const Option& option, const OptionValue& value, const std::string& path, Findings& findings) {
  std::visit(ValueCheck{option, path, findings}, value);
}

}  // namespace tally
