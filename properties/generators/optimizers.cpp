#include "properties/generators/optimizers.hpp"

#include "oracle/layers/contract.hpp"

namespace tally {

const std::vector<std::string>& further_optimizers() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found;
    for (const Contract* contract : contracts_of("optimizer"))
      if (contract->kind != "sgd" && contract->kind != "adam") found.push_back(contract->kind);
    return found;
  }();
  return all;
}

}  // namespace tally
