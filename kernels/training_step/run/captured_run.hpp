// A case of one window whose work is captured once and done again and again, on new values of the same shapes: what a
// loop does that cannot afford to launch every kernel of a small network by hand.
#pragma once

#include <memory>
#include <string>

#include "kernels/training_step/run/run.hpp"

namespace tally {

class CapturedRun {
 public:
  /// Throws as run() does, and NotSupported for what decides on the host in the middle of its work: more than one
  /// window, a dynamic loss scale. `options.taps` and `options.follow` are ignored: nothing is tapped but the end.
  CapturedRun(const Case& c, const RunOptions& options);
  ~CapturedRun();

  /// From now on every replay begins with this: x, target, a parameter, optimizer state or running value by its name in
  /// the case. Throws std::invalid_argument for another name, format or shape.
  void set(const std::string& name, const Tensor& value);

  /// The trace of run() without taps. Guard zones and inputs are not checked.
  Trace replay();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tally
