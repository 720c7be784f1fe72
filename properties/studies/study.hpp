// A study that can be run: one file each, which registers itself. `tally sweep NAME` and `tally bench NAME` run them.
#pragma once

#include <atomic>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "properties/generators/default_seed.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/study.hpp"

namespace tally {

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

struct RegisterStudy {
  explicit RegisterStudy(StudyRunner runner, std::source_location at = std::source_location::current());
};

/// All studies of a family, sorted by name.
std::vector<const StudyRunner*> studies(std::string_view family);
const StudyRunner* find_study(std::string_view family, std::string_view name);

Study run_study(const StudyRunner& runner, const StudyOptions& options);

}  // namespace tally
