// Which sources this program was built from.
#pragma once

#include <string>

namespace tally::command_line {

/// Twelve digits of the commit, with "+" where files differed from it at the build; empty outside a repository.
std::string tree();

}  // namespace tally::command_line
