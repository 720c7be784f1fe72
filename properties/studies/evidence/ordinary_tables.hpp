// Ordinary networks as tables: alarms, refusals and how near they came, by stratum.
#pragma once

#include <vector>

#include "properties/studies/evidence/strata.hpp"
#include "reports/record/study.hpp"

namespace tally {

/// All ordinary networks: alarms and refusals by case.
Stratum ordinary_networks(const Strata& strata);

std::vector<StudyTable> ordinary_tables(const Strata& strata);

}  // namespace tally
