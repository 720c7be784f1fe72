// Forked processes that run numbered jobs, one each; who starts them decides when and how many.
#pragma once

#include <poll.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/campaign/rescue.hpp"

namespace tally {

class WorkerPool {
 public:
  using Job = std::function<std::string(std::size_t)>;
  /// Runs a job whose process died once more, up to a step.
  using Again = std::function<std::string(std::size_t, const Death&)>;
  /// A number and its answer, as run_in_processes() describes it (workers.hpp).
  using Answer = std::pair<std::size_t, std::string>;

  /// Without `again` a job whose process died is not run once more.
  WorkerPool(Job job, Again again);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Ends what still runs.
  ~WorkerPool();

  /// Forks. Throws std::runtime_error where there is no process.
  void start(std::size_t number);
  std::size_t running() const;
  void tell(int signal) const;
  /// What to poll for, one for each that runs, in an order that start() and take() may change.
  std::vector<pollfd> pipes() const;
  /// Reads what has come, after a poll of pipes(); the jobs that are done.
  std::vector<Answer> take(std::span<const pollfd> polled);

 private:
  struct Worker;
  Worker forked(std::size_t number, const std::function<std::string()>& job) const;

  Job job_;
  Again again_;
  std::vector<Worker> workers_;
};

/// Ends this job at once with that answer, from any thread. Where the job was not forked, ends the program with code 3
/// and `message` on the standard error stream.
[[noreturn]] void leave_job(const std::string& answer, const std::string& message);

/// In a forked job: what it begins now. Steps are numbered upwards from 1, not one by one; a death names the last one.
void begin_step(std::uint64_t step);

}  // namespace tally
