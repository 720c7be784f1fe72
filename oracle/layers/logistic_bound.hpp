// s(x) of (sigmoid.1) as fl(1 / fl(1 + exp(-x))) in the (v, e) algebra: what sigmoid is, and a factor of other
// activations.
#pragma once

#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle {

inline Bounded logistic_of(const Elementary& fp32, Bounded x) {
  const Bounded growth = exp_of(fp32, {-x.v, x.e});
  // exp(-x) may overflow to inf, which gives 0 where the exact value is below 2^-127: the bound is all of it.
  if (std::isfinite(x.v) && decided(x) && !(std::isfinite(growth.v) && decided(growth))) {
    const double most = 1 / (1 + std::exp(-x.v - x.e));
    return {1 / (1 + std::exp(-x.v)), 2 * most + 0x1p-126};
  }
  return fp32.div({1, 0}, fp32.add({1, 0}, growth));
}

}  // namespace tally::oracle
