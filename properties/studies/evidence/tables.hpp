// The evidence as tables and plots of a study.
// Defined in tables.cpp, plots.cpp.
#pragma once

#include "properties/studies/evidence/figures.hpp"
#include "properties/studies/evidence/gather.hpp"
#include "reports/record/study.hpp"

namespace tally {

std::vector<StudyTable> evidence_tables(const GatheredEvidence& evidence);
std::vector<StudyPlot> evidence_plots(const GatheredEvidence& evidence);

}  // namespace tally
