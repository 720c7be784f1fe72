// The kernels that a case chooses, held against those there are.
#pragma once

#include "properties/laws/law.hpp"

namespace tally::command_line {

/// Throws UsageError for a kernel of `execution.kernels` that this subject does not have; it lists those it has.
void require_known_kernels(const Case& c, const RunOptions& subject);

}  // namespace tally::command_line
