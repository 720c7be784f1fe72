// Forked processes that run numbered jobs: a crash in one is an answer, a limit ends what hangs, and what is left of a
// job whose process died goes on. Defined in workers.cpp, early_fork.cpp.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/subjects/process/child_process.hpp"

namespace tally {

// What is left of a job whose process died: everything it had found up to the step it died of.

/// How a process ended that gave no whole answer.
struct Death {
  std::string how;            // "signal 11 (Segmentation fault)"
  bool from_outside = false;  // by a signal that no program sends itself: somebody's kill, or no memory left
  std::uint64_t step = 0;     // run again, a job ends at the first step from here on, without taking it
};

/// Which step to end at, run after run, until an answer comes. A death may be long after its cause, as where a heap is
/// spoilt and every later call may find it so: then the last step is looked for from which an answer still comes, by
/// halves, as a job is the same up to there each time.
class Rescue {
 public:
  /// The process died in that step, or after it. Where to end it next; nothing when there is no more to try.
  std::optional<Death> died(const Death& death);
  /// An answer came. Where to end it next; nothing when no later step can give one.
  std::optional<Death> answered(std::string answer);
  /// The answer of the latest step that gave one, or "crash: " and how the process ended at first.
  std::string result() const;

 private:
  std::optional<Death> next() const;

  std::optional<Death> first_;
  std::int64_t answers_ = -1, dies_ = 0, tried_ = -1;  // the latest step that is known to, the earliest, the last one
  std::optional<std::string> best_;
};

// Forked processes that run numbered jobs, one each; who starts them decides when and how many.

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
  Worker begun(std::size_t number, const std::function<std::string()>& job) const;

  Job job_;
  Again again_;
  std::vector<Worker> workers_;
};

/// Ends this job at once with that answer, from any thread. Where the job was not forked, ends the program with code 3
/// and `message` on the standard error stream.
[[noreturn]] void leave_job(const std::string& answer, const std::string& message);

/// In a forked job: what it begins now. Steps are numbered upwards from 1, not one by one; a death names the last one.
void begin_step(std::uint64_t step);

// Runs numbered jobs in forked processes: a crash in one is an answer, not the end of the campaign.

/// In place of a number of processes: jobs run here, one after another, without forking.
inline constexpr int in_this_process = 0;
/// Processes that are to run jobs on this executor. What a GPU's driver keeps does not survive a fork.
inline int processes_for(ExecutorKind executor, int asked) {
  return executor == ExecutorKind::cuda ? in_this_process : asked;
}

/// answers[i] is what `job(i)` returned in its process, or starts with "crash: " and says what ended it: a signal, an
/// exit or an exception. Jobs are handed out in order; `done(i)` is called in this process as answers come. One process
/// is forked too: one job at a time. None outlives this process.
/// When `interrupted` is set, by a handler of SIGTERM that the jobs inherit, jobs under way are sent that signal once:
/// whoever stopped this process alone, by its number, means them too. No other begins: its answer stays empty.
/// With `again`, a job whose process died is run once more by that, a few times where it must (workers.hpp).
std::vector<std::string> run_in_processes(std::size_t jobs, int processes,
                                          const std::function<std::string(std::size_t)>& job,
                                          const std::function<void(std::size_t)>& done,
                                          const std::atomic<bool>* interrupted = nullptr,
                                          const std::function<std::string(std::size_t, const Death&)>& again = {});

// A time limit for code that cannot be asked to stop.

class Watchdog {
 public:
  /// `bark` runs in a thread of the watchdog's own, once, when a watch took longer than that; it should end the
  /// process. Not to be made before a fork.
  Watchdog(double seconds, std::function<void()> bark);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches for `factor` times the limit, until stop().
  void start(double factor = 1);
  void stop();

 private:
  void watch();

  const std::chrono::duration<double> limit_;
  const std::function<void()> bark_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool over_ = false;
  std::thread thread_;
};

// A process that is forked early, before its parent opens what no fork may inherit (MPI keeps threads, memory and
// sockets of its own), and from which the workers are forked later.

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

  /// Once, before any start(). Throws std::runtime_error, as all below, when the helper is gone.
  void begin(const std::string& text);
  /// Forks a worker there, however many there are.
  void start(std::size_t number, std::size_t before);
  /// Waits for an answer, so long at most, and takes those that have come.
  std::vector<Answer> take(std::chrono::microseconds longest);

 private:
  std::optional<ChildProcess> process_;  // its workers die with it
  Descriptor commands_, answers_;
  std::string come_;  // of answers, not yet whole
};

}  // namespace tally
