// The cells of a study's table as people read them, the same in every rendering.
#pragma once

#include <string>
#include <vector>

#include "reports/record/study.hpp"

namespace tally {

bool holds_numbers(const StudyColumn& column);
std::size_t rows_of(const StudyTable& table);

/// Three digits; a column that holds nothing but whole numbers shows them whole.
std::vector<std::string> cells_of(const StudyColumn& column);

/// Titles as Table and columns() take them: numbers start with '>'.
std::vector<std::string> titles_of(const StudyTable& table);

}  // namespace tally
