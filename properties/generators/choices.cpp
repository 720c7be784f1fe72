// Choices with the defaults of their contract filled in, the values of an option that a campaign draws, and the seed of
// every run that names none.
#include "properties/generators/choices.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"

namespace tally {

Choice choice(std::string_view section, std::string_view kind, const Options& options) {
  const Contract* contract = find_contract(section, kind);
  const std::string what = std::string(section) + " " + std::string(kind);
  if (!contract) throw std::logic_error("no contract for " + what);
  Choice made{std::string(kind), options};
  for (const Option& option : contract->options) {
    if (made.options.contains(option.name)) continue;
    if (!option.standard) throw std::logic_error(what + " needs option " + option.name);
    made.options.emplace(option.name, *option.standard);
  }
  if (made.options.size() != contract->options.size()) throw std::logic_error(what + " was given an unknown option");
  return made;
}

Layer layer(std::string_view kind, std::string name, const Options& options) {
  Layer made;
  static_cast<Choice&>(made) = choice("layer", kind, options);
  made.name = std::move(name);
  return made;
}

Decimal decimal(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {std::string(text, end)};
}

namespace {

bool is_allowed(const Option& option, const OptionValue& value) {
  Findings findings;
  check_option(option, value, "", findings);
  return findings.empty();
}

/// WorthDrawing in the order in which they are worth most; kept where they are allowed and new.
class WorthDrawing {
 public:
  explicit WorthDrawing(const Option& option) : option_(option) {}

  void add(const OptionValue& value) {
    const auto same = [&](const OptionValue& other) { return name_of_value(other) == name_of_value(value); };
    if (is_allowed(option_, value) && std::none_of(all_.begin(), all_.end(), same)) all_.push_back(value);
  }
  void add_until(std::size_t count, std::initializer_list<const char*> numbers) {
    for (const char* number : numbers) {
      if (all_.size() < count) add(Decimal{number});
    }
  }
  std::vector<OptionValue> all() && { return std::move(all_); }

 private:
  const Option& option_;
  std::vector<OptionValue> all_;
};

/// Without what the division left in the last digits: 1e-07, not 1.0000000000000001e-07.
Decimal of_few_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return decimal(std::stod(text));
}

/// The default, what is allowed at an end, the middle of a range with two ends; a hundredth and hundredfold of the
/// default where one end is open and the default is small.
void add_numbers(const Option& option, WorthDrawing& values) {
  const Range& range = option.range;
  if (option.standard) values.add(*option.standard);
  for (const std::string& end : {range.at_least, range.at_most})
    if (!end.empty()) values.add(Decimal{end});
  const double standard = option.standard ? std::get<Decimal>(*option.standard).to_double() : 0;
  if (range.below.empty() && range.at_most.empty() && standard > 0 && standard < 1) {
    values.add(of_few_digits(standard * 100));
    values.add(of_few_digits(standard / 100));
  }
  values.add_until(3, {"0.5", "0.25", "0.75"});
  values.add_until(3, {"3", "1.5", "1"});
}

void add_integers(const Option& option, WorthDrawing& values) {
  if (option.standard) values.add(*option.standard);
  for (const std::int64_t value : {-1, 0, 1, 2}) {
    if (value >= 0 || option.range.at_least.empty()) values.add(value);
  }
}

void add_words(const Option& option, WorthDrawing& values) {
  values.add(std::vector<std::string>{});
  for (const std::string& word : option.words) values.add(std::vector<std::string>{word});
  values.add(option.words);
}

struct NameOfValue {
  std::string operator()(const Shapes& shapes) const { return std::to_string(shapes.size()) + " tensors"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(const Decimal& value) const { return decimal(value.to_double()).text; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<Decimal>& values) const {
    return values.empty() ? "none" : "one for each class";
  }
  std::string operator()(const std::vector<std::string>& values) const {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return text.empty() ? "none" : text;
  }
};

}  // namespace

std::vector<OptionValue> values_worth_drawing(const Contract& contract, const Option& option) {
  WorthDrawing values(option);
  switch (option.type) {
    case OptionType::boolean:
      values.add(false);
      values.add(true);
      break;
    case OptionType::integer:
      if (contract.section != "layer") add_integers(option, values);
      break;
    case OptionType::number:
      add_numbers(option, values);
      break;
    case OptionType::text:
      for (const std::string& word : option.words) values.add(word);
      break;
    case OptionType::number_list:
      values.add(std::vector<Decimal>{});
      values.add(std::vector<Decimal>{Decimal{"0.5"}});
      break;
    case OptionType::text_list:
      add_words(option, values);
      break;
    case OptionType::shapes:
      break;
  }
  return std::move(values).all();
}

std::string name_of_value(const OptionValue& value) { return std::visit(NameOfValue{}, value); }

}  // namespace tally
