// How a subject says that it computes, for people.
#pragma once

#include <string>
#include <vector>

#include "oracle/layers/claim.hpp"

namespace tally::command_line {

/// A line for what differs from the defaults, then one a kernel operation: "norm: numpy, same bits each time, height 64".
/// A hundred operations at most, and how many more.
std::vector<std::string> claims_in_short(const Claims& claims);

}  // namespace tally::command_line
