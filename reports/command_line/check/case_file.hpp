// The case file that a command is given; what is wrong with it is said with the file's name.
#pragma once

#include <string>

#include "oracle/case/case.hpp"

namespace tally::command_line {

/// Throws UsageError.
Case case_in(const std::string& file);

/// Whether its first bytes are those of a safetensors file: the length of a header, and the header's brace.
bool begins_as_safetensors(const std::string& file);

}  // namespace tally::command_line
