// A step rate * (m / divisor) that may be evaluated as (rate * m) / divisor instead, as libraries do.
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// The bound of the first evaluation, widened by what only the second one does: its roundings are as many and as large,
/// but its product may underflow, by eta, and is then divided by at least `least`; or overflow, and nothing is known.
inline Bounded either_product(Bounded move, Bounded rate, Bounded m, double least) {
  const Arithmetic fp32 = single();
  const double product = (std::fabs(rate.v) + rate.e) * (std::fabs(m.v) + m.e);
  if (!decided(move)) return move;
  if (!(product * inflation < fp32.threshold())) return {move.v, infinite};
  // Each operation behind the lost bits rounds them at most once more.
  move.e += least > 0 ? fp32.underflow() / least * (1 + gam(2, fp32.u())) * inflation : infinite;
  return move;
}

}  // namespace tally::oracle
