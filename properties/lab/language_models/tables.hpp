// The tables and the sentences of the study, made from what its runs left.
#pragma once

#include <string>
#include <vector>

#include "properties/lab/evidence/strata.hpp"
#include "reports/record/study.hpp"

namespace tally {

/// Clean runs; other claims; alarms where there are any.
std::vector<StudyTable> language_model_tables(const Strata& strata);

// What the study says of its tables.

std::string language_model_answer(const Strata& strata);
/// How cases are drawn, why bounds stand where they do, and which claims random data does not tell apart.
std::vector<std::string> language_model_notes(const Strata& strata);

}  // namespace tally
