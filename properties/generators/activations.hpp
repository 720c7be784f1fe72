// The elementwise layers there are, from the registry of kernels and the contracts.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Every layer whose kernels take ActivationArguments, once for each word that chooses between kernels: gelu by erf and
/// gelu by tanh. Those that the generators knew first keep their places, so that cases stay as they were drawn; others
/// follow by name.
const std::vector<Layer>& activations();

/// The same by kind: the forms that each of them has.
struct ActivationForms {
  std::string kind;
  std::vector<Layer> forms;
};
const std::vector<ActivationForms>& activations_by_kind();

}  // namespace tally
