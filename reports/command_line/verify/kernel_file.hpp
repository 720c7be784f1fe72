// Where the source of a kernel stands.
#pragma once

#include <string>

namespace tally::command_line {

/// The file below the repository that a kernel was registered in; of the products of a linear layer, which no kernel of
/// Tally's own makes, where they are made; empty where it is not known.
std::string file_of(const std::string& operation, const std::string& variant);

}  // namespace tally::command_line
