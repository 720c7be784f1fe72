// What larger parts of Tally have `tally doctor` say besides, with options of their own.
#pragma once

#include "reports/command_line/command.hpp"

namespace tally::command_line {

using Examination = std::function<Action(CLI::App& command)>;

struct RegisterExamination {
  explicit RegisterExamination(Examination examination, std::source_location at = std::source_location::current());
};

std::vector<Examination> examinations();

}  // namespace tally::command_line
