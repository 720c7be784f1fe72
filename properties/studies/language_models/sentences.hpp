// What the study says of its tables.
#pragma once

#include <string>
#include <vector>

#include "properties/studies/evidence/strata.hpp"

namespace tally {

std::string language_model_answer(const Strata& strata);
/// How cases are drawn, why bounds stand where they do, and which claims random data does not tell apart.
std::vector<std::string> language_model_notes(const Strata& strata);

}  // namespace tally
