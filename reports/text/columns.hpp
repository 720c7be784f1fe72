// A table for a terminal: columns padded to their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace tally {

/// The first row is the header. A title that starts with '>' sets its column flush right. Cells are made safe for a
/// terminal and cut at `widest` code points.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t widest = 60);

}  // namespace tally
