// What a seeded fault's record says, in words.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

/// "2^-12", or "1"; a dash where none was looked for.
std::string smallest_caught_word(const FaultRecord& fault);

}  // namespace tally
