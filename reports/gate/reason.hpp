#pragma once

#include <string>

namespace tally {

/// What is wrong with a reason: empty, or no more than that something was updated; else empty.
std::string complaint_about(const std::string& reason);

}  // namespace tally
