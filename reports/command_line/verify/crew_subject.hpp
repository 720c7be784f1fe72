// A crew of MPI's ranks as a subject: cases of so many ranks are trained by it, all others by its first rank.
#pragma once

#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

/// Starts it once to see that it can. Throws UsageError, StepRefused. It lives as long as the program.
RunOptions crew_subject(const SubjectOptions& options, int ranks);

}  // namespace tally::command_line
