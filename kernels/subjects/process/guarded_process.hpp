// A process that runs code which may do anything, under limits, and that leaves nothing behind: whatever it started
// ends with it, and with the process that holds this object.
//
// Between the two stands a guard, a small process that becomes the parent of all that the code starts and leaves alone.
// It ends them when the code's own process has ended, or when this object's has, by whatever means.
// Defined in guarded_process.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kernels/subjects/process/child_process.hpp"
#include "kernels/subjects/process/step_limits.hpp"

namespace tally {

class GuardedProcess {
 public:
  /// Runs in the process, which ends with it: reads lines from one descriptor and writes lines to the other.
  using Body = std::function<void(int in, int out)>;
  /// Starts it; it ends with this object, and everything that it started. Throws std::runtime_error where no process
  /// can be had.
  GuardedProcess(const Body& body, const StepLimits& limits);

  /// Sends a line and returns the next one that comes, both without their ends. nullopt: none came within so many
  /// seconds, the limits' flag says not to wait, or the process has ended, as ended() says then.
  std::optional<std::string> ask(const std::string& line, double seconds);
  /// How it ended, once ask() found that it had.
  const std::optional<ProcessEnd>& ended() const { return ended_; }
  /// The last line that it wrote to its standard error stream since the last ask(), shortened; empty: none.
  std::string last_words() const;

 private:
  bool send_some(std::string_view& left);
  void learn_end();

  std::optional<ChildProcess> guard_;  // the first member: it ends once life_ is closed
  Descriptor to_, from_, status_, life_, log_;
  std::string received_;
  std::optional<ProcessEnd> ended_;
  const std::atomic<bool>* interrupted_;
};

}  // namespace tally
