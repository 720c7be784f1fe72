#include <stdexcept>

#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/kinds.hpp"
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
  const std::int64_t least = is_opaque(c.model) ? 0 : 1;
  if (c.model.input < least) {
    findings.add_broken("$.model.input", std::to_string(c.model.input), "an integer >= " + std::to_string(least));
    return;
  }
  if (is_opaque(c.model.loss) && !is_opaque(c.model))
    findings.add_broken("$.model.loss", "an opaque loss of a model that is stated", "a loss of a known kind");
  const std::int64_t rows = rows_of(c);
  check_size({rows, c.model.input}, "$.model.input", findings);
  std::vector<std::int64_t> outputs;
  const auto features_of = [&](LayerInput from) {
    return from == model_input ? c.model.input : outputs[static_cast<std::size_t>(from)];
  };
  std::size_t activations = 0;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const Contract& contract = *find_contract("layer", layer.kind);
    const std::string path = element_path("$.model.layers", i);
    if (contract.opaque && c.model.layers.size() > 1)
      findings.add_broken(path, "an opaque layer beside others", "an opaque layer alone, which is the whole model");
    const std::vector<LayerInput> inputs = inputs_of(c.model, i);
    const std::int64_t entering = features_of(inputs.front());
    std::vector<std::int64_t> read;
    for (const LayerInput from : inputs) read.push_back(features_of(from));
    for (const Misfit& misfit : contract.input_misfits(layer, read))
      findings.add_broken(path + "." + misfit.option, misfit.found, misfit.expected);
    for (const LayerTensor& tensor : tensors_of(layer))
      if (tensor.role != Role::mask) check_size(tensor.shape(layer, entering), path, findings);
    const std::int64_t features = outputs.emplace_back(contract.out_features(layer, entering));
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
