#include "oracle/case/option.hpp"

#include "oracle/case/decimal.hpp"

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
  return std::nullopt;
}

std::optional<OptionValue> read_numbers(const Json& json) {
  std::vector<Decimal> numbers;
  for (const Json& item : json.items) {
    if (!is_number(item)) return std::nullopt;
    numbers.push_back({item.text});
  }
  return numbers;
}

std::optional<OptionValue> read_texts(const Option& option, const Json& json) {
  std::vector<std::string> texts;
  for (const Json& item : json.items) {
    auto word = word_of(option, item);
    if (!word) return std::nullopt;
    texts.push_back(*std::move(word));
  }
  return texts;
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
      if (json.is(Json::Kind::array)) return read_numbers(json);
      break;
    case OptionType::text_list:
      if (json.is(Json::Kind::array)) return read_texts(option, json);
      break;
  }
  return std::nullopt;
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
};

}  // namespace

std::optional<OptionValue> read_option(const Option& option, const Json& json, const std::string& path,
                                       Findings& findings) {
  auto value = converted(option, json);
  if (!value && findings.sound(path)) findings.add_broken(path, shown(json), allowed(option));
  return value;
}

Json write_option(const OptionValue& value) { return std::visit(ValueWriter{}, value); }

}  // namespace tally
