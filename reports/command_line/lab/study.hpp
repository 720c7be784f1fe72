// One study, its document and its page: what `tally sweep` and `tally bench` have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

struct StudyCommand {
  std::string family, name;  // "sweep" or "bench"; unknown names are a UsageError that lists the known ones
  SubjectOptions subject;
  double effort = defaults::effort;
  std::string seed = defaults::seed, out = defaults::out;
  bool json = false;
  int processes = defaults::processes;
};

/// Adds the options of the command's family.
void add_study_options(CLI::App& command, StudyCommand& options);
int study(const StudyCommand& command);

}  // namespace tally::command_line
