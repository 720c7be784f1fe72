// How a command ends, and what the program prints.
#pragma once

#include <iostream>
#include <memory>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>

namespace tally::command_line {

// How a command ends: its exit code, and the exception that stands for wrong usage.

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

// What the program prints. Tap names, claims and messages come from files that anybody may have written: a terminal
// would obey the control characters in them.

/// While it lives, what is printed to std::cout is shown as visible() of reports/text/text.hpp shows it.
class VisibleOutput {
 public:
  VisibleOutput();
  VisibleOutput(const VisibleOutput&) = delete;
  VisibleOutput& operator=(const VisibleOutput&) = delete;
  ~VisibleOutput();

 private:
  std::unique_ptr<std::streambuf> shown_;
  std::streambuf* before_;
};

/// A document in a form of its own, such as JSON, byte for byte.
void print_document(std::string_view document);

/// A message for a person: on one line, and where it is long its beginning.
std::string message_line(std::string_view text);

// Which sources this program was built from: made by CMake.

/// Twelve digits of the commit, with "+" where files differed from it at the build; empty outside a repository.
std::string tree();

/// "tally was built of [commit 0123456789ab]": by these bytes programs of one build know each other.
extern const char build_mark[];

}  // namespace tally::command_line
