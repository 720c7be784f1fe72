// RapidCheck's generator of plans, and plans whose model several stages of a pipeline train. Defined in
// random_plan.cpp, pipeline_plan.cpp.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/gen/Exec.h>

#include "properties/generators/plan.hpp"

namespace tally {

// RapidCheck's generator of plans: shapes small first, sizes around warp and block edges, every recipe section, unequal
// and short micro-batches. Included by the campaign and its tests alone: it pulls in RapidCheck.

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

/// Cuts the model of a case into the stages and chunks that the plan asks for, as far as its layers, and its micro-batches
/// where chunks are several, go; where one stage is left there is no pipeline.
void cut_into_stages(const Plan& plan, Case& c);

/// Two to four stages of one chunk or of several, by each schedule in turn, of a model over rows of x: with as many layers as they need.
void pipelined(Plan& plan);

}  // namespace tally
