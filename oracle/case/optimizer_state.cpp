#include "oracle/case/optimizer_state.hpp"

namespace tally {
namespace {

std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const Contract* contract : contracts_of("optimizer"))
    for (const StateTensor& tensor : contract->state) names.insert(tensor.name);
  return names;
}

}  // namespace

std::vector<const StateTensor*> state_of(const Choice& optimizer) {
  std::vector<const StateTensor*> found;
  for (const StateTensor& tensor : contract_of("optimizer", optimizer).state)
    if (tensor.present(optimizer)) found.push_back(&tensor);
  return found;
}

bool counts_steps(const Choice& optimizer) { return contract_of("optimizer", optimizer).counts_steps; }

const std::set<std::string>& state_names() {
  static const std::set<std::string> names = all_names();
  return names;
}

std::string_view parameter_of_state(std::string_view tensor) {
  const auto dot = tensor.find('.');
  if (dot == tensor.npos || !state_names().contains(std::string(tensor.substr(0, dot)))) return {};
  const std::string_view parameter = tensor.substr(dot + 1);
  return parameter.find('.') == parameter.npos ? std::string_view{} : parameter;  // a layer may be named "momentum"
}

}  // namespace tally
