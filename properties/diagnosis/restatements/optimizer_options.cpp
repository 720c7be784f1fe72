// An option of the optimizer is another one than the case gives: on for off, none for some, the standard for a given one.
#include "oracle/layers/contract.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::optimizer_options_restatement {
namespace {

std::string text_of(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const Decimal* number = std::get_if<Decimal>(&value)) return number->text;
  return "another value";
}

Restated with_option(const std::string& name, const OptionValue& stated, const OptionValue& done) {
  Restated way;
  way.change = [name, done](Case& c) { c.recipe.optimizer.options[name] = done; };
  way.sentence = "the optimizer works by another value of an option than the case gives: " + name;
  way.formula = name + " = " + text_of(done) + " in place of " + text_of(stated);
  return way;
}

std::vector<Restated> ways(const Case& c, const Trace&) {
  std::vector<Restated> all;
  const Contract* contract = find_contract("optimizer", c.recipe.optimizer.kind);
  for (const Option& option : contract->options) {
    const auto stated = c.recipe.optimizer.options.find(option.name);
    if (stated == c.recipe.optimizer.options.end()) continue;
    if (const bool* flag = std::get_if<bool>(&stated->second)) {
      all.push_back(with_option(option.name, stated->second, !*flag));
      continue;
    }
    if (option.standard && *option.standard != stated->second)
      all.push_back(with_option(option.name, stated->second, *option.standard));
    if (option.name == "dampening")  // as in v = μ v + (1 - μ) g
      all.push_back(with_option(option.name, stated->second, c.recipe.optimizer.number("momentum")));
  }
  return all;
}

const RegisterRestatement registered{{
    .name = "option-taken-as",
    .sentence = "the stage works by another value of an option than the case gives",
    .formula = "option = another value",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::optimizer_options_restatement
