// Options that several commands have, with the same words and defaults.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

/// --subject alone.
void add_subject_name(CLI::App& command, std::string& subject, const std::string& what);
/// --subject, --fault, --magnitude and --kernel.
void add_subject(CLI::App& command, SubjectOptions& options);
/// For Option::check(). CLI11's own names the largest of all numbers, in 309 digits.
CLI::Validator above_zero();
CLI::Option* add_effort(CLI::App& command, double& effort);
void add_seed(CLI::App& command, std::string& seed);
/// --out with its default; `what` says what goes into the folder.
void add_out(CLI::App& command, std::string& out, const std::string& what);
void add_processes(CLI::App& command, int& processes);
/// --all, of what else is cut to what fits on a screen.
void add_all(CLI::App& command, bool& all);

}  // namespace tally::command_line
