// Cases whose model is a pipeline's: without it, and by other schedules.
// Defined in pipelines.cpp.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// The case with one process that has the whole model.
Case without_stages(Case c);
/// The case by its own schedule and by each other one that its chunks and micro-batches allow.
std::vector<Case> by_every_schedule(const Case& c);
inline constexpr const char* needs_stages = "a case whose model several stages train";

}  // namespace tally
