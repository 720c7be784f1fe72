// A study that can be run, its independent parts spread over processes, and numbers in the sentences of its answer.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/registered_files.hpp"
#include "properties/generators/choices.hpp"
#include "properties/lab/statistics.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/study.hpp"

namespace tally {

// A study that can be run: one file each, which registers itself. `tally sweep NAME` and `tally bench NAME` run them.

struct StudyOptions {
  RunOptions subject;  // where kernels run
  double effort = 1;   // scales the number of cases; 1 is what a person waits for: at most two minutes on two cores
  std::uint64_t seed = default_seed;
  int processes = 2;  // results are the same whatever their number
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct StudyRunner {
  std::string family;    // "sweep" or "bench"
  std::string name;      // "micro_batches"
  std::string question;  // one sentence
  /// Fills in tables, plots, notes, answer, status and message; run_study() fills in the rest but for the environment,
  /// which the command line knows.
  Study (*run)(const StudyOptions& options) = nullptr;
};

/// Every study is a `Register<StudyRunner>`.
inline std::pair<std::string, std::string> key_of_record(const StudyRunner& runner) {
  return {runner.family, runner.name};
}

/// All studies of a family, sorted by name.
std::vector<const StudyRunner*> studies(std::string_view family);
const StudyRunner* find_study(std::string_view family, std::string_view name);

Study run_study(const StudyRunner& runner, const StudyOptions& options);

using Numbers = std::vector<double>;

/// answers[i] is what job(i) found, to the bit, whatever the number of processes; empty for the jobs that were not
/// begun when the study was interrupted. On a GPU everything runs in this process. Throws std::runtime_error with the
/// job's title when one throws or crashes.
std::vector<Numbers> run_jobs(const StudyOptions& options, std::size_t jobs,
                              const std::function<Numbers(std::size_t)>& job,
                              const std::function<std::string(std::size_t)>& title);

/// At least `least`, else `at_effort_one` scaled by the study's effort.
std::size_t scaled(const StudyOptions& options, double at_effort_one, std::size_t least);

// Numbers in the sentences of an answer.

std::string three_digits(double value);       // "0.413", "1.23e-07"
std::string exponent_text(const Fit& fit);    // "0.50 (95 %: 0.48 to 0.52)"
std::string exponent_text(const Mean& mean);  // the same
std::string power_of_two_text(double value);  // "2^20" where it is one, else three_digits()

}  // namespace tally
