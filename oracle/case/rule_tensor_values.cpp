#include <cmath>

#include "oracle/case/element.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/rules.hpp"

namespace tally {
namespace {

constexpr std::size_t most_reported = 8;

/// Notes the elements of a tensor that do not fulfil `holds`, the first few of them.
template <class Holds>
void check_elements(const Case& c, const std::string& name, const char* expected, Findings& findings, Holds holds) {
  const auto found = c.tensors.find(name);
  if (found == c.tensors.end() || !findings.sound(tensor_path(name))) return;
  const Tensor& tensor = found->second;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < tensor.elements() && wrong < most_reported; ++i)
    if (!holds(tensor.value(i))) {
      findings.add(element_path(tensor_path(name) + ".data", i), canonical_element(tensor, i).text, expected);
      ++wrong;
    }
  mapped_bytes_read(tensor.bytes.size());
}

bool finite(double value) { return std::isfinite(value); }
bool not_negative(double value) { return value >= 0; }

void check_layer(const Case& c, const Layer& layer, Findings& findings) {
  for (const LayerTensor& tensor : tensors_of(layer)) {
    const std::string name = layer.name + "." + tensor.name;
    if (tensor.role == Role::mask)
      check_elements(c, name, "0 or 1", findings, [](double value) { return value == 0 || value == 1; });
    if (tensor.role == Role::running && tensor.name == "running_var")
      check_elements(c, name, "a variance >= 0", findings, not_negative);
  }
}

}  // namespace

void check_tensor_values(const Case& c, Findings& findings) {
  for (const auto& [name, tensor] : c.tensors) check_elements(c, name, "a finite number", findings, finite);
  check_elements(c, "step", "a step >= 0", findings, not_negative);
  check_elements(c, "item_weight", "an item weight >= 0", findings, not_negative);
  for (const Layer& layer : c.model.layers) check_layer(c, layer, findings);
}

void check_state_values(const Case& c, Findings& findings) {
  for (const StateTensor* state : state_of(c.recipe.optimizer)) {
    if (!state->never_negative) continue;
    const std::string expected = "a " + state->word + " >= 0";
    for (const std::string& parameter : parameters_of(c.model))
      check_elements(c, state->name + "." + parameter, expected.c_str(), findings, not_negative);
  }
}

}  // namespace tally
