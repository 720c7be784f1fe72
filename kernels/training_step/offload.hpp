// A step that is offloaded: master parameters, optimizer state and all that comes from the buffers to the updated
// parameters live on the host executor, and the device keeps what the layers read. As ZeRO-Offload does.
#pragma once

#include <deque>
#include <set>
#include <string>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// Which host executor has an offloaded step: the one that the run is on, beside a GPU the plain one.
ExecutorKind step_executor(ExecutorKind of_the_run);
/// Where what steps a parameter lives: that host executor where the step is offloaded, else the run's device.
Device& step_device(const Run& run);
/// The name of a buffer there, by which memory is counted.
std::string step_name(const Case& c, const std::string& name);

/// Options of the part of a run that the host executor has.
RunOptions options_on_host(RunOptions options);
/// A parameter as that part has it: what steps it is moved out of `whole`, buffer and master are copies of their own.
Parameter offloaded(Run& host, Parameter& whole);

/// The parameters with the optimizer's state, wherever they are: of ranks that share it, this rank's pieces.
const std::deque<Parameter>& stepped_parameters(const Run& run);

/// While it lives, run() is what makes the window's end: run.host where the step is offloaded, which then has the
/// buffers, the scale and the place in the loop, and taps into the run's trace. Elsewhere the run itself.
class StepSide {
 public:
  explicit StepSide(Run& run);
  ~StepSide();
  StepSide(const StepSide&) = delete;
  StepSide& operator=(const StepSide&) = delete;
  Run& run() const;
  /// Behind the last stage: the run has the updated parameters, and what was found.
  void hand_back();

 private:
  Run& whole_;
  std::set<std::string, std::less<>> launched_;  // by the host's part: its claims hold for these
};

}  // namespace tally
