// The weight of (cross_entropy.4): what multiplies the square of each row's log of the sum.
#pragma once

#include "oracle/case/case.hpp"

namespace tally {

/// 0 of a loss that says nothing of it.
inline Decimal z_loss_of(const Choice& loss) {
  return loss.options.contains("z_loss") ? loss.number("z_loss") : Decimal{"0"};
}

}  // namespace tally
