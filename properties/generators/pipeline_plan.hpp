// Plans whose model several stages of a pipeline train.
// Defined in pipeline_plan.cpp.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Cuts the model of a case into the stages and chunks that the plan asks for, as far as its layers, and its micro-batches
/// where chunks are several, go; where one stage is left there is no pipeline.
void cut_into_stages(const Plan& plan, Case& c);

/// Two to four stages of one chunk or of several, by each schedule in turn, of a model over rows of x: with as many layers as they need.
void pipelined(Plan& plan);

}  // namespace tally
