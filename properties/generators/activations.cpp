#include "properties/generators/activations.hpp"

#include <algorithm>
#include <array>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_arguments.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

bool is_elementwise(const std::string& family) {
  const StandardKernels& kernels = standard_kernels(ExecutorKind::host);
  const auto forward = kernels.find(family + ".forward");
  return forward != kernels.end() && forward->second->arguments == typeid(ActivationArguments);
}

/// The elementwise forms of a kind; none where its kernels are not elementwise.
std::vector<Layer> forms_of(const Contract& contract) {
  if (contract.kernels_by.empty())
    return is_elementwise(contract.kind) ? std::vector{layer(contract.kind)} : std::vector<Layer>{};
  const auto chosen = std::ranges::find(contract.options, contract.kernels_by, &Option::name);
  std::vector<Layer> forms;
  for (const std::string& word : chosen->words) {
    if (is_elementwise(contract.kind + "_" + word))
      forms.push_back(layer(contract.kind, "", {{contract.kernels_by, word}}));
  }
  return forms;
}

std::size_t place_of(const ActivationForms& activation) {
  static constexpr std::array known{"relu", "tanh", "sigmoid", "gelu"};
  return static_cast<std::size_t>(std::ranges::find(known, activation.kind) - known.begin());
}

}  // namespace

const std::vector<ActivationForms>& activations_by_kind() {
  static const std::vector<ActivationForms> all = [] {
    std::vector<ActivationForms> found;
    for (const Contract* contract : drawn_contracts_of("layer")) {
      if (auto forms = forms_of(*contract); !forms.empty()) found.push_back({contract->kind, std::move(forms)});
    }
    std::ranges::stable_sort(found, {}, place_of);
    return found;
  }();
  return all;
}

const std::vector<Layer>& activations() {
  static const std::vector<Layer> all = [] {
    std::vector<Layer> found;
    for (const ActivationForms& activation : activations_by_kind())
      found.insert(found.end(), activation.forms.begin(), activation.forms.end());
    return found;
  }();
  return all;
}

}  // namespace tally
