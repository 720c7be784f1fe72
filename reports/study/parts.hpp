// Parts of a study that its own page and a run's page both show.
#pragma once

#include <cstddef>

#include "reports/record/study.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// Title, note and rows; where there are more than `rows_at_most`, the first of them and how many are left out.
void study_table(Markup& page, const StudyTable& table, std::size_t rows_at_most = ~std::size_t{0});
/// "Measured on host executor, Tally 0.1.0, commit 1234567, seed 7, effort 1, GNU 12.2.0, Release": where its numbers
/// come from.
std::string origin_of(const Study& study);

}  // namespace tally
