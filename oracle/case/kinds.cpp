#include "oracle/case/kinds.hpp"

#include <algorithm>

#include "oracle/case/io.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {

bool is_opaque(const Layer& layer) { return contract_of("layer", layer).opaque; }
bool is_opaque(const Choice& loss) { return contract_of("loss", loss).opaque; }
bool is_opaque(const Model& model) { return model.layers.size() == 1 && is_opaque(model.layers.front()); }

bool reads_positions(const Model& model) {
  return std::ranges::any_of(model.layers,
                             [](const Layer& layer) { return contract_of("layer", layer).reads_positions; });
}

bool reads_sequences(const Model& model) {
  return std::ranges::any_of(model.layers,
                             [](const Layer& layer) { return contract_of("layer", layer).reads_sequences; });
}

bool is_norm(const Layer& layer) { return contract_of("layer", layer).norm; }

void require_stated(const Case& c) {
  const char* const allowed = "a kind whose formulas are known; tally check judges a capture of this one";
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (is_opaque(c.model.layers[i]))
      throw InvalidCase({{"$.model.layers[" + std::to_string(i) + "].kind", "\"opaque\"", allowed}});
  if (is_opaque(c.model.loss)) throw InvalidCase({{"$.model.loss.kind", "\"opaque\"", allowed}});
}

bool has_class_targets(const Choice& loss) { return contract_of("loss", loss).class_targets; }

const Decimal* written_scale(const Choice& loss_scale) {
  const Contract& contract = contract_of("loss_scale", loss_scale);
  return contract.does_nothing ? nullptr : &loss_scale.number(contract.first_scale);
}

bool checks_overflow(const Choice& loss_scale) { return contract_of("loss_scale", loss_scale).checks_overflow; }

bool clips(const Choice& clip) { return !contract_of("clip", clip).does_nothing; }

bool clips_by_norm(const Choice& clip) { return contract_of("clip", clip).reads_norm; }

bool decays(const Choice& weight_decay) { return !contract_of("weight_decay", weight_decay).does_nothing; }

bool decays_gradient(const Choice& weight_decay) { return contract_of("weight_decay", weight_decay).decays_gradient; }

}  // namespace tally
