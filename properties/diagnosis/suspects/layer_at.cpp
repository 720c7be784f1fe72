#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {

std::optional<std::size_t> layer_at(const Evidence& evidence, const HeldTensor& held, const std::string& before,
                                    const std::string& kind, const std::string& after) {
  const Model& model = evidence.c.model;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (!kind.empty() && model.layers[i].kind != kind) continue;
    if (held.name.tensor == before + label_of(model, i) + after) return i;
  }
  return std::nullopt;
}

}  // namespace tally
