// What was found of ranks that train together, rank by rank and stage by stage.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// By the checks on own bits of all windows; a row for neighbouring ranks of which the same was found. Empty where no
/// check names a rank, unless stages of a pipeline train the case: then each has rows of its own.
std::vector<RankRow> rank_rows(const Case& c, const std::vector<TensorCheck>& checks);

}  // namespace tally
