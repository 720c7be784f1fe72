// A training step of a user's own, named on the command line: `step:LIBRARY` or `exec:COMMAND`.
#pragma once

#include <string>

#include "reports/command_line/subject.hpp"

namespace tally::command_line {

bool is_own_step(const std::string& subject);

/// Opens or starts it. Throws UsageError for options that speak of Tally's kernels, StepRefused. It lives as long as the
/// program.
RunOptions own_step_subject(const SubjectOptions& options);

/// `environment` with what is known of where such a step runs.
Environment environment_of_own_step(Environment environment, const SubjectOptions& options);

/// "4G" in bytes. Throws UsageError.
std::uint64_t bytes_of_words(const std::string& text, const std::string& option);

}  // namespace tally::command_line
