// What ranks leave for those that train on after them, where their number changes: all that one window hands to the
// next, put together of what each of them keeps and taken apart again as the next ones keep it. Defined in
// checkpoint.cpp.
#pragma once

#include <map>
#include <string>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// Whole tensors by their names: "fc1.weight", "momentum.fc1.weight", "bn1.running_mean", in the master format; "scale"
/// fp32, "growth_counter" and "step" i64, of one element. State of the optimizer that no step has begun is not in it.
struct Checkpoint {
  std::map<std::string, Tensor> tensors;
};

/// What one process wrote down, into what others did: each left zeros where it has no piece.
void put_together(const Checkpoint& part, Checkpoint& into);

/// Where a run of some windows stands between others: what its ranks begin with and what they leave, or nullptr.
struct Handover {
  const Checkpoint* before = nullptr;
  Checkpoint* after = nullptr;
};

/// While it lives, run() has what steps the parameters, its device and the place in the loop, and taps into the trace
/// of the whole run: the part on the host executor where the step is offloaded, else the run itself.
class StateKeeper {
 public:
  explicit StateKeeper(Run& run);
  ~StateKeeper();
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;
  Run& run() const;

 private:
  Run& whole_;
};

/// Whether this rank's stepped parameters are pieces, and which piece the i-th of them is; otherwise all of a
/// parameter.
bool keeps_pieces(const Run& run);
RankPiece kept_piece(const Run& run, std::size_t i);

}  // namespace tally
