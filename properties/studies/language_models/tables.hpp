// The tables and the sentences of the study, made from what its runs left.
#pragma once

#include <string>
#include <vector>

#include "properties/studies/evidence/strata.hpp"
#include "reports/record/study.hpp"

namespace tally {

/// Clean runs; other claims; alarms where there are any.
std::vector<StudyTable> language_model_tables(const Strata& strata);

}  // namespace tally
