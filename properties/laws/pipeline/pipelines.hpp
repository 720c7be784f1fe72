// Cases whose model is a pipeline's: without it, and by other schedules.
// Defined in pipelines.cpp.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

/// A pipeline, of every third plan one on each of two to four ranks that add up as ranks are drawn to, with what is
/// stated of both.
void pipelined_on_ranks(Plan& plan);

/// The case with one process that has the whole model.
Case without_stages(Case c);
/// The case by its own schedule and by each other one that its chunks and micro-batches allow.
std::vector<Case> by_every_schedule(const Case& c);
inline constexpr const char* needs_stages = "a case whose model several stages train";

}  // namespace tally
