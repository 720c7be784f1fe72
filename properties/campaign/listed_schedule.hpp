// A failing case whose drawn schedule is written down, and shrunk to the choices that matter.
#pragma once

#include <functional>

#include "properties/laws/law.hpp"

namespace tally {

/// Tries the case with its drawn schedule as a list, then shorter lists. `fails_alike` remembers what still fails;
/// asked at most `attempts` times. Does nothing for a case without a drawn schedule.
void with_listed_schedule(const Case& c, const RunOptions& subject, int attempts,
                          const std::function<bool(const Case&)>& fails_alike);

}  // namespace tally
