// Which sources this program was built from.
#pragma once

#include <string>

namespace tally::command_line {

/// Twelve digits of the commit, with "+" where files differed from it at the build; empty outside a repository.
std::string tree();

/// "tally was built of [commit 0123456789ab]": by these bytes programs of one build know each other.
extern const char build_mark[];

}  // namespace tally::command_line
