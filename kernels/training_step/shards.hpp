// Ranks that share the optimizer: each moves its own piece of every bucket and hands it to the others.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// Every rank's pieces, and this one's as parameters of their own: `run.shards`. Nothing where ranks do not share.
void add_shards(Run& run);

/// While it lives, `run.parameters` are this rank's pieces, begun with its part of the sums; nothing where ranks do not
/// share the optimizer.
class OwnPieces {
 public:
  explicit OwnPieces(Run& run);
  ~OwnPieces();
  OwnPieces(const OwnPieces&) = delete;
  OwnPieces& operator=(const OwnPieces&) = delete;

 private:
  Run& run_;
};

}  // namespace tally
