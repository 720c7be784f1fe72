// RapidCheck's generator of plans: shapes small first, sizes around warp and block edges, every recipe section, unequal
// and short micro-batches. Included by the campaign and its tests alone: it pulls in RapidCheck.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/gen/Exec.h>

#include "properties/generators/plan.hpp"

namespace tally {

/// Any plan whose storage is `storage`.
rc::Gen<Plan> random_plan(Dtype storage);

void showValue(const Plan& plan, std::ostream& out);

}  // namespace tally
