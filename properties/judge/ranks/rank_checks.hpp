// What was found of every rank, as checks of the whole trace.
#pragma once

#include <vector>

#include "properties/judge/groups.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"

namespace tally {

/// The checks of all ranks under the names that the whole trace has, in its order; behind them one for every tensor of
/// a window's end that a rank holds in other bits than rank 0 though all must hold the same.
std::vector<TensorCheck> checks_of_whole(const RanksOfTrace& ranks, const Trace& trace,
                                         const std::vector<GroupedChecks>& of_each);
/// The same of all generations, one behind another; the end-to-end lens behind all others.
std::vector<TensorCheck> checks_of_whole(const GenerationsOfTrace& generations, const Trace& trace,
                                         const std::vector<std::vector<GroupedChecks>>& of_each);

/// A failing check where two ranks hold other bits of what is one value by definition: everything from their sum on,
/// as far as the kernels promise their bits. +0 and -0 are one value; which NaN it is is not asked.
std::vector<TensorCheck> disagreements(const RanksOfTrace& ranks);

}  // namespace tally
