// Ranks that train together as a grid: a row for ranks that are alike, a column a stage.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// Nothing without rows. The cell of `first_tap`, the first failing tensor, is marked; empty: none fails.
void rank_grid(Markup& page, const std::vector<RankRow>& rows, const std::string& title, const std::string& first_tap);

}  // namespace tally
