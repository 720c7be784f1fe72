// A study, rendered: page, Markdown, terminal.
// Defined in markdown.cpp, page.cpp, terminal.cpp, write_study.cpp.
#pragma once

#include <filesystem>
#include <string>

#include "reports/record/study.hpp"

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

}  // namespace tally
