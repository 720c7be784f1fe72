// A study, rendered: page, Markdown, terminal; with the parts that a run's page shows too.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/record/study.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// One self-contained page without scripts: question, answer with its status, plots, tables, notes, environment.
std::string study_html(const Study& study);
std::string study_markdown(const Study& study);
/// Answer and tables as plain text, without colour; long tables are cut and say so.
std::string terminal_text(const Study& study);

/// NAME.json, NAME.html and NAME.md, each whole or not at all; makes the folder. Throws std::runtime_error naming what
/// cannot be written.
void write_study(const Study& study, const std::filesystem::path& folder);

/// 0 pass, 1 fail, 3 error, 4 not run or vacuous.
int exit_code_of(const Study& study);

// The cells of a study's table as people read them, the same in every rendering.

bool holds_numbers(const StudyColumn& column);
std::size_t rows_of(const StudyTable& table);

/// Three digits; a column that holds nothing but whole numbers shows them whole.
std::vector<std::string> cells_of(const StudyColumn& column);

/// Titles as Table and columns() take them: numbers start with '>'.
std::vector<std::string> titles_of(const StudyTable& table);

// Parts of a study that its own page and a run's page both show.

/// Title, note and rows; where there are more than `rows_at_most`, the first of them and how many are left out.
void study_table(Markup& page, const StudyTable& table, std::size_t rows_at_most = ~std::size_t{0});
/// "Measured on host executor, Tally 0.1.0, commit 1234567, seed 7, effort 1, GNU 12.2.0, Release": where its numbers
/// come from.
std::string origin_of(const Study& study);

/// The studies that the program was built with, by family and name: what the folder of evidence held, so that every
/// page can show it. Throws std::runtime_error if one is damaged, which the tests would have seen.
std::vector<Study> kept_studies();

}  // namespace tally
