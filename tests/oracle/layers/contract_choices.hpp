// Choices of a kind made from its contract alone, so that a new kind and a new option are covered where they register.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "oracle/case/contract.hpp"

namespace tally::oracle {

inline bool in_range(const Range& range, const std::string& value) {
  const auto read = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  const double x = read(value);
  return (range.above.empty() || x > read(range.above)) && (range.at_least.empty() || x >= read(range.at_least)) &&
         (range.below.empty() || x < read(range.below)) && (range.at_most.empty() || x <= read(range.at_most));
}

/// What an option takes: every boolean and word, whole and other numbers at and inside the ends of their range, its
/// standard; lists empty and with three members.
inline std::vector<OptionValue> values_of(const Option& option) {
  std::vector<OptionValue> values;
  const auto allowed = [&](const char* text) { return in_range(option.range, text); };
  if (option.standard) values.push_back(*option.standard);
  if (option.type == OptionType::boolean) values = {true, false};
  if (option.type == OptionType::text) values.assign(option.words.begin(), option.words.end());
  if (option.type == OptionType::number) {
    for (const char* text : {"0", "1e-5", "0.3", "0.7", "1", "2.5"})
      if (allowed(text)) values.push_back(Decimal{text});
  }
  if (option.type == OptionType::integer) {
    for (const char* text : {"1", "2", "4"})
      if (allowed(text)) values.push_back(std::int64_t{std::atoi(text)});
  }
  if (option.type == OptionType::number_list) values.push_back(std::vector<Decimal>{{"0.5"}, {"2"}, {"0.3"}});
  if (option.type == OptionType::text_list) values.push_back(option.words);
  return values;
}

/// Booleans and words in all combinations; the values of every other option in turn, as often as it takes.
inline std::vector<Choice> choices_of(const Contract& contract) {
  std::vector<Choice> choices{{contract.kind, {}}};
  std::size_t most = 1;
  for (const Option& option : contract.options) {
    const std::vector<OptionValue> values = values_of(option);
    most = std::max(most, values.size());
    if (option.type != OptionType::boolean && option.type != OptionType::text) continue;
    std::vector<Choice> longer;
    for (const Choice& choice : choices)
      for (const OptionValue& value : values) {
        longer.push_back(choice);
        longer.back().options[option.name] = value;
      }
    choices = std::move(longer);
  }
  for (std::size_t i = 0; choices.size() < most; ++i) choices.push_back(choices[i]);
  for (const Option& option : contract.options) {
    if (option.type == OptionType::boolean || option.type == OptionType::text) continue;
    const std::vector<OptionValue> values = values_of(option);
    for (std::size_t i = 0; i < choices.size(); ++i) choices[i].options[option.name] = values[i % values.size()];
  }
  return choices;
}

/// "batch_norm affine statistics=window ...", for messages.
inline std::string text_of(const Choice& choice) {
  std::string text = choice.kind;
  for (const auto& [name, value] : choice.options) {
    text += " " + name + "=";
    if (const auto* flag = std::get_if<bool>(&value)) text += *flag ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value)) text += std::to_string(*whole);
    if (const auto* number = std::get_if<Decimal>(&value)) text += number->text;
    if (const auto* word = std::get_if<std::string>(&value)) text += *word;
  }
  return text;
}

}  // namespace tally::oracle
