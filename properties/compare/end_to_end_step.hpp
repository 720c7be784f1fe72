// A micro-step end to end where ranks put its statistics together: all ranks go through the layers side by side.
// Defined in end_to_end_step.cpp, end_to_end_backward.cpp, end_to_end_buffers.cpp, end_to_end_forward.cpp,
// end_to_end_lens.cpp.
#pragma once

#include <memory>
#include <vector>

#include "properties/compare/end_to_end_walk.hpp"

namespace tally {

/// Forward of one group, layer by layer.
void begin_forward(EndToEndWalk& walk, Group& group);
void expect_layer(EndToEndWalk& walk, Group& group, std::size_t i);

/// Backward of one group, the last layer first.
class BackwardPass {
 public:
  /// Both must outlive it.
  BackwardPass(EndToEndWalk& walk, Group& group);
  ~BackwardPass();
  BackwardPass(BackwardPass&&) noexcept;
  /// The gradient of the output of layer i, whose readers have given theirs.
  oracle::Expected gradient_of(std::size_t i);
  void go_through(std::size_t i, const oracle::Expected& dy);
  /// Into the buffers, or to the sums over ranks.
  void finish();

 private:
  struct State;
  EndToEndWalk& walk_;
  Group& group_;
  std::unique_ptr<State> state_;
};

/// The gradients of a group's micro-batches, each added to its buffer.
void add_gradients(EndToEndWalk& walk, const Group& group, std::vector<Gradients>& kept);

/// Micro-step k of a window: of all ranks, or of one of them with what the others handed over as they tapped it; it ends
/// where that is not known.
void begin_window(EndToEndWalk& walk);                       // what stands before a window's first micro-batch
void expect_steps(const std::vector<EndToEndWalk*>& ranks);  // all of a window
void expect_micro_step(const std::vector<EndToEndWalk*>& ranks, int k);

}  // namespace tally
