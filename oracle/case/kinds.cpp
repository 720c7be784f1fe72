#include "oracle/case/kinds.hpp"

#include "oracle/layers/contract.hpp"

namespace tally {

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
