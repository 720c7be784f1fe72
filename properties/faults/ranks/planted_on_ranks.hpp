// What faults of ranks have in common: who runs, among how many.
#pragma once

#include "kernels/ranks/division.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run_state.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"

namespace tally {

/// 1 and 0 where one rank trains alone.
inline int ranks(const Run& run) { return run.options.link == nullptr ? 1 : run.options.link->size(); }
inline int rank(const Run& run) { return run.options.link == nullptr ? 0 : run.options.link->rank(); }

/// Whether buffers are added up once a window and their sum is left as it is: what the faults of a sum change.
inline bool sums_buffers_alone(const Run& run) {
  return !communicates_each(run.c) && !rank_division(run.c, static_cast<std::size_t>(ranks(run))).around_the_sum;
}

/// Every number times a constant of the division, as a kernel stores it on the wire.
inline Tensor times_constant(const Run& run, const Tensor& all, float constant) {
  Tensor on_wire(wire_of(run.c), all.shape);
  for (std::size_t i = 0; i < all.elements(); ++i)
    on_wire.set(i, static_cast<double>(static_cast<float>(all.value(i)) * constant));
  return on_wire;
}

/// What keeps the sums over ranks: the parameters, or this rank's pieces of them.
inline std::deque<Parameter>& keepers_of_sums(Run& run) {
  return shards_gradients(run.c) ? run.shards : run.parameters;
}

/// Taps what every parameter's sum came to once more, behind what changed it.
inline void tap_sums(Run& run) {
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "reduced." + parameter.name, parameter.buffer);
}

}  // namespace tally
