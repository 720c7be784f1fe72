#include <algorithm>

#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {

void check_trainable(const Case& c, Findings& findings) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    if (layer.trainable) continue;
    const std::vector<LayerTensor> tensors = tensors_of(layer);
    if (std::ranges::count(tensors, Role::frozen, &LayerTensor::role) > 0) continue;
    findings.add_broken(element_path("$.model.layers", i) + ".trainable",
                        "false, where " + json_string(layer.kind) + " has no parameters of its own",
                        layer.tied.empty() ? "nothing" : "nothing: a tied weight stands still where its table does");
  }
  if (parameters_of(c.model).empty())
    findings.add_broken("$.model.layers", "no parameter that trains", "one: a layer that is not frozen");
}

}  // namespace tally
