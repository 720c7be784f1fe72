// Ranks that train together as a grid: a row for ranks that are alike, a column a stage.
#pragma once

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// Of a failure; nothing where one rank trains. The cell of the first failing tensor is marked.
void rank_grid(Markup& page, const CaseRecord& c);

}  // namespace tally
