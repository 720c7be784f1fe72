// A training step of a user's own, named on the command line: `step:LIBRARY` or `exec:COMMAND`.
#pragma once

#include <memory>
#include <string>

#include "kernels/subjects/process/step_limits.hpp"
#include "kernels/training_step/own_step.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

bool is_own_step(const std::string& subject);

/// Opens or starts it. Throws UsageError for options that speak of Tally's kernels, StepRefused. It lives as long as the
/// program.
RunOptions own_step_subject(const SubjectOptions& options);

/// What such a step may take.
StepLimits step_limits_of(const SubjectOptions& options);

/// Throws UsageError for options that speak of Tally's kernels.
void require_no_kernels(const SubjectOptions& options);
/// This step as the subject.
RunOptions with_own_step(std::unique_ptr<OwnStep> step);

/// `environment` with what is known of where such a step runs.
Environment environment_of_own_step(Environment environment, const SubjectOptions& options);

/// "4G" in bytes. Throws UsageError.
std::uint64_t bytes_of_words(const std::string& text, const std::string& option);

}  // namespace tally::command_line
