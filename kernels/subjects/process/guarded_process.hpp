// A process that runs code which may do anything, under limits, and that leaves nothing behind: whatever it started
// ends with it, and with the process that holds this object.
//
// Between the two stands a guard, a small process that becomes the parent of all that the code starts and leaves alone.
// It ends them when the code's own process has ended, or when this object's has, by whatever means.
// Defined in guarded_process.cpp.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "kernels/subjects/process/step_limits.hpp"

namespace tally {

class GuardedProcess {
 public:
  /// Runs in the process, which ends with it: reads lines from one descriptor and writes lines to the other.
  using Body = std::function<void(int in, int out)>;
  struct Ended {
    std::string how;            // "signal 11 (Segmentation fault)", "an exit with code 1"
    bool from_outside = false;  // by a signal that no program sends itself
  };

  /// Starts it. Throws std::runtime_error where no process can be had.
  GuardedProcess(const Body& body, const StepLimits& limits);
  /// Ends it, and everything that it started.
  ~GuardedProcess();
  GuardedProcess(const GuardedProcess&) = delete;
  GuardedProcess& operator=(const GuardedProcess&) = delete;

  /// Sends a line and returns the next one that comes, both without their ends. nullopt: none came within so many
  /// seconds, the limits' flag says not to wait, or the process has ended, as ended() says then.
  std::optional<std::string> ask(const std::string& line, double seconds);
  /// How it ended, once ask() found that it had.
  const std::optional<Ended>& ended() const { return ended_; }
  /// The last line that it wrote to its standard error stream since the last ask(), shortened; empty: none.
  std::string last_words() const;

 private:
  bool send_some(std::string_view& left);
  bool receive_some();
  void learn_end();

  pid_t owner_, guard_ = -1;
  int to_ = -1, from_ = -1, status_ = -1, life_ = -1, log_ = -1;
  std::string received_;
  std::optional<Ended> ended_;
  const std::atomic<bool>* interrupted_;
};

/// In the guard's own process: runs the body in a child, and ends when that has ended or when `life` is closed by whoever
/// holds its other end. Writes the child's status to `status`.
struct GuardedEnds {
  int in, out, status, life, log;
};
[[noreturn]] void guard_process(const GuardedProcess::Body& body, const StepLimits& limits, const GuardedEnds& ends);

}  // namespace tally
