// A process that is forked early, before its parent opens what no fork may inherit (MPI keeps threads, memory and
// sockets of its own), and from which the workers are forked later.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "properties/campaign/worker_pool.hpp"

namespace tally {

/// Jobs of a helper's workers. The second number is the one that came with the job.
struct EarlyForkJobs {
  std::function<std::string(std::size_t number, std::size_t before)> job;
  std::function<std::string(std::size_t number, std::size_t before, const Death& died)> again;
};

class EarlyFork {
 public:
  struct Answer {
    std::size_t number = 0;
    double seconds = 0;  // from its fork to its answer
    std::string bytes;   // as of run_in_processes() (workers.hpp)
  };

  /// Forks now. `prepare` is called there, with the text of begin(). Signals that ask a program to end are ignored by
  /// the helper and its workers: they end with their parent, or with this object, and never leave half an answer.
  explicit EarlyFork(const std::function<EarlyForkJobs(const std::string&)>& prepare);
  EarlyFork(const EarlyFork&) = delete;
  EarlyFork& operator=(const EarlyFork&) = delete;
  ~EarlyFork();

  /// Once, before any start(). Throws std::runtime_error, as all below, when the helper is gone.
  void begin(const std::string& text);
  /// Forks a worker there, however many there are.
  void start(std::size_t number, std::size_t before);
  /// Waits for an answer, so long at most, and takes those that have come.
  std::vector<Answer> take(std::chrono::microseconds longest);

 private:
  pid_t pid_ = 0;
  int commands_ = -1, answers_ = -1;
  std::string come_;  // of answers, not yet whole
};

}  // namespace tally
