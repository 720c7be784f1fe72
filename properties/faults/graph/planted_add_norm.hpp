// Back through a norm and its sum with something done otherwise: a struct that derives from ThroughBothAsItShould and
// hides one of its functions.
#pragma once

#include "kernels/add_norm/through_both.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// A launcher of add_norm.backward: what lies between the shipped kernel and this one.
template <class Otherwise>
void planted_add_norm(Stream& stream, const AddNormBackwardArguments& a) {
  const std::int64_t elements = a.norm.rows * a.norm.features;
  between_kernels(stream, a, {{a.norm.dx, a.norm.storage, elements}, {a.sum, a.norm.storage, elements}},
                  "add_norm.backward", "fused", launch_through_both<Otherwise>);
}

}  // namespace TALLY_SIDE
}  // namespace tally
