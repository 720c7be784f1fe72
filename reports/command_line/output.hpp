// What the program prints. Tap names, claims and messages come from files that anybody may have written: a terminal
// would obey the control characters in them.
#pragma once

#include <iostream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

namespace tally::command_line {

/// While it lives, what is printed to std::cout is shown as visible() of reports/text/utf8.hpp shows it.
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

}  // namespace tally::command_line
