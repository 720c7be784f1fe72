// The independent parts of a study, spread over processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/studies/study.hpp"

namespace tally {

using Numbers = std::vector<double>;

/// answers[i] is what job(i) found, to the bit, whatever the number of processes; empty for the jobs that were not
/// begun when the study was interrupted. On a GPU everything runs in this process. Throws std::runtime_error with the
/// job's title when one throws or crashes.
std::vector<Numbers> run_jobs(const StudyOptions& options, std::size_t jobs,
                              const std::function<Numbers(std::size_t)>& job,
                              const std::function<std::string(std::size_t)>& title);

/// At least `least`, else `at_effort_one` scaled by the study's effort.
std::size_t scaled(const StudyOptions& options, double at_effort_one, std::size_t least);

}  // namespace tally
