// The plans that a campaign draws for one law: a plan as it comes from its source, with the draws that every campaign
// adds, narrowed to the law's domain.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"
#include "properties/generators/plainer_plan.hpp"
#include "properties/generators/plan.hpp"
#include "properties/laws/law.hpp"

namespace tally {

/// Another seed for each law and precision, from one for all.
std::uint64_t seed_of(std::uint64_t seed, const Law& law, Dtype storage);

/// How many cases of a law a campaign of this effort draws in each precision: 40 at effort 1 and weight 1, at least one.
int cases_drawn(const Law& law, double effort);

/// With options, formats and ways to execute drawn by the plan's seed, values of any bits where the law holds for
/// them; in the law's domain.
Plan shaped(Plan plan, const Law& law);
/// The same for a step of a user's own: without kernels, orders and schedules of Tally's, and so plain.
Plan shaped_for_own_step(Plan plan, const Law& law, const Plainness& plain);

}  // namespace tally
