// A case against its full batch.
#pragma once

#include "properties/laws/outcome.hpp"

namespace tally {

/// Both runs judged by themselves, then against each other: the windows' gradients and parameters differ by no more than
/// both bounds together, and the exact gradients not at all. `gap`: the sentence where they do. Not settled; not run
/// where the subject cannot run them.
Outcome against_full_batch(const Case& c, const RunOptions& subject, const std::string& gap);

}  // namespace tally
