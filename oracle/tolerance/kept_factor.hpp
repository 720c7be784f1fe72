// What dropout multiplies by what it keeps.
#pragma once

#include "oracle/real/number.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// 1 / (1 - p) of the layer, as the subject holds it.
inline Bounded kept_factor(const BoundPass& pass) {
  const Decimal& p = pass.layer.number("p");
  const Arithmetic fp32 = single();
  const Bounded in_fp32 = fp32.div({1, 0}, fp32.sub({1, 0}, constant(p)));
  const long double exact = 1 / (1 - number<long double>(p));
  return derived_constant(pass.declared, exact, in_fp32, exact * of_inverse(exact * 0x1p-51L));
}

}  // namespace tally::oracle
