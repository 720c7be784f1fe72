// What most laws share: run a case, judge what it left, and let whoever watches read what the run was.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kernels/device/launch_paths.hpp"
#include "properties/laws/judge.hpp"

namespace tally {

/// A run, which ways its launches went, how long each operation took, and what the lenses say of it.
struct CheckedRun {
  // Defined once, in run_and_check.cpp: most files that hold one would compile their own copy of these.
  CheckedRun();
  CheckedRun(const CheckedRun&);
  CheckedRun(CheckedRun&&) noexcept;
  CheckedRun& operator=(const CheckedRun&);
  CheckedRun& operator=(CheckedRun&&) noexcept;
  ~CheckedRun();

  Trace trace;
  std::set<LaunchPath> paths;
  std::map<std::string, double> seconds;  // by operation, as KernelClock counts them
  Outcome outcome;
};

/// Runs the case and judges its trace. What the options cannot run gives not_run with its reason, and no trace.
CheckedRun run_and_check(const Case& c, const RunOptions& options);

/// Is told of what laws check on this thread, for as long as it lives, in order. Several may watch.
class RunObserver {
 public:
  RunObserver();
  virtual ~RunObserver();
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  /// A run of `c` that is judged; not called for one that could not be made. The outcome is still to come.
  virtual void see_run(const Case& c, const CheckedRun& run) = 0;
  /// Launches of kernels that a law makes and judges by itself.
  virtual void see_launches(ExecutorKind, const std::set<LaunchPath>&) {}
  /// A law did what this trigger names, and no run tells.
  virtual void see_trigger(std::string_view) {}
};

void tell_launches(ExecutorKind executor, const std::set<LaunchPath>& paths);
void tell_trigger(std::string_view name);

}  // namespace tally
