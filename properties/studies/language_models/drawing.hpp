// What the drawn cases of all families share.
#pragma once

#include <array>
#include <string>

#include "kernels/device/executor/schedule.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

/// Numbers for case `number` of a family, which `family` tells from others.
executor::Schedule numbers_for(std::uint64_t seed, std::uint64_t number, const std::string& family);

template <class T, std::size_t n>
const T& one_of(executor::Schedule& random, const std::array<T, n>& all) {
  return all[random.below(n)];
}

/// A model over tokens without hidden layers: one micro-batch of `rows`, five classes, cross-entropy, a static loss
/// scale of 64, SGD.
Plan plain_plan(Dtype storage, executor::Schedule& random, std::int64_t rows, std::int64_t longest);

/// A layer that reads these.
Layer reading(Layer layer, std::vector<std::string> inputs);

/// The table of the embedding becomes factor times itself, plus `shift`.
void move_table(Case& c, double factor, double shift = 0);

}  // namespace tally
