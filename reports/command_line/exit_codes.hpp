// How a command ends: its exit code, and the exception that stands for wrong usage.
#pragma once

#include <stdexcept>

namespace tally::command_line {

/// Exit codes, the same for every command.
enum Exit {
  pass = 0,
  failed = 1,
  usage = 2,
  environment = 3,
  nothing_ran = 4,
  only_new = 5,
  of_verify = 74,  // to the launcher alone: a larger part of Tally has it
  of_the_lab = 75,
  absent = 77,
  interrupted = 130
};

/// What the user gave is wrong: exit 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tally::command_line
