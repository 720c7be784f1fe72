#include "properties/studies/language_models/family.hpp"

namespace tally {

const std::vector<LayerFamily>& layer_families() {
  static const std::vector<LayerFamily> all{attentions(),   norm_layers(),      rotary_layers(),
                                            gated_layers(), embedding_layers(), heads_with_losses()};
  return all;
}

}  // namespace tally
