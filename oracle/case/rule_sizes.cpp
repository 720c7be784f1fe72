#include <stdexcept>

#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/limits.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

bool affordable(const std::vector<std::int64_t>& shape) {
  try {
    return elements_of(shape) <= most_elements;
  } catch (const std::length_error&) {
    return false;
  }
}

/// One finding for each layer at most: what follows an impossible size is impossible as well.
void check_size(const std::vector<std::int64_t>& shape, const std::string& path, Findings& findings) {
  if (!affordable(shape) && findings.sound(path))
    findings.add_broken(path, "a size of " + to_string(shape),
                        "at most " + std::to_string(most_elements) + " elements");
}

}  // namespace

void check_sizes(const Case& c, Findings& findings) {
  if (c.model.input < 1) {
    findings.add_broken("$.model.input", std::to_string(c.model.input), "an integer >= 1");
    return;
  }
  const std::int64_t rows = rows_of(c);
  check_size({rows, c.model.input}, "$.model.input", findings);
  std::int64_t features = c.model.input;
  std::size_t activations = 0;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const Contract& contract = *find_contract("layer", layer.kind);
    const std::string path = element_path("$.model.layers", i);
    for (const LayerTensor& tensor : contract.tensors)
      if (tensor.role != Role::mask && tensor.present(layer)) check_size(tensor.shape(layer, features), path, findings);
    features = contract.out_features(layer, features);
    check_size({rows, features}, path, findings);
    if (!findings.sound(path)) continue;
    activations += static_cast<std::size_t>(rows * features);
    if (activations <= most_elements) continue;
    findings.add_broken(path, std::to_string(activations) + " elements of activations up to here",
                        "at most " + std::to_string(most_elements));
    return;
  }
}

}  // namespace tally
