// What faults of ranks have in common: who runs, among how many.
#pragma once

#include "kernels/ranks/division.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run_state.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

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

/// What every rank of a link brings of a tensor, by rank.
inline std::vector<Tensor> brought_by_all(Link& link, const std::string& about, const Tensor& own) {
  std::vector<Tensor> all(static_cast<std::size_t>(link.size()), own);
  for (int to = 0; to < link.size(); ++to)
    if (to != link.rank()) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  for (int from = 0; from < link.size(); ++from) {
    Tensor& theirs = all[static_cast<std::size_t>(from)];
    if (from != link.rank()) link.receive(from, about, {theirs.bytes.data(), theirs.bytes.size()});
  }
  return all;
}

/// sum = fl(sum + addend) in fp32, stored in the wire's format.
inline void add_on_wire(Tensor& sum, const Tensor& addend) {
  for (std::size_t i = 0; i < sum.elements(); ++i)
    sum.set(i, static_cast<double>(static_cast<float>(sum.value(i)) + static_cast<float>(addend.value(i))));
}

/// Taps what every parameter's sum came to once more, behind what changed it.
inline void tap_sums(Run& run) {
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "reduced." + parameter.name, parameter.buffer);
}

/// The shipped stage, then `sum_of` what all ranks let travel of each parameter in the place of its sum, in some elements.
template <class SumOf>
void sum_otherwise(Run& run, const char* about, SumOf sum_of) {
  const RankDivision division = rank_division(run.c, static_cast<std::size_t>(ranks(run)));
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters)
    own.push_back(times_constant(run, parameter.buffer.read(), division.front));
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    Parameter& parameter = run.parameters[p];
    const auto all = brought_by_all(*run.options.link, std::string(about) + ", " + parameter.name, own[p]);
    const Tensor sum = times_constant(run, sum_of(all), division.behind);
    change(run, parameter.buffer, [&](std::size_t i, double value) { return hits(i) ? sum.value(i) : value; });
  }
  tap_sums(run);
}

/// What keeps the sums over ranks: the parameters, or this rank's pieces of them.
inline std::deque<Parameter>& keepers_of_sums(Run& run) {
  return shards_gradients(run.c) ? run.shards : run.parameters;
}

}  // namespace tally
