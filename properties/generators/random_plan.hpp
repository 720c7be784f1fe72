// RapidCheck's generator of plans: shapes small first, sizes around warp and block edges, every recipe section, unequal
// and short micro-batches. Included by the campaign and its tests alone: it pulls in RapidCheck.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/gen/Exec.h>

#include "properties/generators/plan.hpp"

namespace tally {

/// Any plan whose storage is `storage`, with ordinary values.
rc::Gen<Plan> random_plan(Dtype storage);

/// Gives every second plan values of one class of bit pattern; follows from its seed.
void draw_values(Plan& plan);

/// How the plan is run, from its seed: in every second one the host GEMM's order of additions is drawn, in every second
/// one the order of threads; of an operation with several shipped kernels, in every second one any of them; in every
/// fourth one each of the fused passes.
void draw_execution(Plan& plan);

/// Gives every second plan other formats than fp32 for its buffers, masters, GEMM accumulators or operands (TF32), as
/// oracle/case.md allows beside its storage; follows from its seed.
void draw_formats(Plan& plan);

void showValue(const Plan& plan, std::ostream& out);

}  // namespace tally
