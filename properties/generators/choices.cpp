#include "properties/generators/choices.hpp"

#include <charconv>
#include <stdexcept>

#include "oracle/layers/contract.hpp"

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

}  // namespace tally
