// Ranks that share the optimizer: each moves its own piece of every bucket and hands it to the others.
// Defined in shards.cpp; what pieces become together, in reduce.cpp.
#pragma once

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// Every rank's pieces, and this one's as parameters of their own: `run.shards`. Nothing where ranks do not share.
void add_shards(Run& run);

/// The ranks that hold the pieces of one whole, this one among them.
Link& sharers_of(Run& run);
/// Neighbouring elements, by their bytes.
void copy_elements(Run& run, const DeviceTensor& from, std::int64_t first, const DeviceTensor& to, std::int64_t at,
                   std::int64_t count);

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
