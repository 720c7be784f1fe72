#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// Drift by window for one model: a panel for each precision, a colour for each cut into micro-batches. The numbers at
/// the last window stand in the table before it.
void training_figure(Markup& page, const std::string& id, const std::string& name,
                     const std::vector<const TrainingRecord*>& records);

}  // namespace tally
