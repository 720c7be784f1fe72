#include <algorithm>

#include "oracle/case/decimal.hpp"
#include "oracle/case/option.hpp"

namespace tally {
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
