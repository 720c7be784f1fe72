// What faults of a checkpoint have in common: it is read otherwise than it was written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ranks/buckets.hpp"
#include "kernels/training_step/checkpoint.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"

namespace tally {

/// The buckets of the ranks that load, and how many elements of parameters each holds.
inline std::vector<Bucket> buckets_of_run(const Run& run) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements);
  return buckets_of(run.c, static_cast<std::size_t>(ranks(run)), sizes);
}
inline std::int64_t held_by(const Run& run, const Bucket& bucket) {
  std::int64_t held = 0;
  for (const Bucket::Place& place : bucket.places) held += run.parameters[place.parameter].elements;
  return held;
}

/// What the tensors of a checkpoint that every parameter has one of begin with: nothing of the parameters themselves,
/// "exp_avg." of a tensor of the optimizer.
inline std::vector<std::string> kinds_of(const Run& run, const Checkpoint& from) {
  std::vector<std::string> kinds{""};
  for (const StateTensor* each : state_of(run.c.recipe.optimizer))
    if (from.tensors.contains(each->name + "." + run.parameters.front().name)) kinds.push_back(each->name + ".");
  return kinds;
}

/// Element i, moved towards what the fault reads in its place.
inline void misread(Tensor& tensor, std::int64_t i, double wrong) {
  const auto at = static_cast<std::size_t>(i);
  if (const double right = tensor.value(at); right != wrong) tensor.set(at, blend(right, wrong));
}

/// `replaced_load<f>` is the shipped table with the loading of a checkpoint replaced.
template <void (*Function)(Run&, const Checkpoint&)>
const Stages& replaced_load() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.load_checkpoint = Function;
    return copy;
  }();
  return stages;
}

}  // namespace tally
