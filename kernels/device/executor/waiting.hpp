// Where threads wait, inlined into kernels: no return may follow a switch to another stack, for it would not go where
// the processor predicts.
// Defined in barrier.cpp.
#pragma once

#include <cstring>
#include <source_location>

#include "kernels/device/executor/state.hpp"
#include "kernels/device/executor/switching.hpp"

namespace tally::executor {

/// Everyone who waits at the barrier may go on.
void release_barrier();
[[noreturn]] void fail_divergent_barrier(std::source_location at);

inline bool same_place(std::source_location a, std::source_location b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

/// Throws ExecutorFinding when another thread of the block waits at another barrier.
TALLY_INLINED void wait_at_barrier_inlined(std::source_location at) {
  track();
  State& s = state();
  Barrier& barrier = s.barrier;
  if (barrier.arrived++ == 0) barrier.at = at;
  if (!same_place(barrier.at, at)) [[unlikely]]
    fail_divergent_barrier(at);
  const bool last = barrier.arrived == s.alive;
  if (last && !s.schedule.free()) return release_barrier();
  barrier.waiting.push_back(s.fibre);
  if (last) release_barrier();
  suspend();
}

/// Leaves the calling lane's part. True: the collective is complete, the fibre has the lane's result.
bool contribute(const Contribution& mine, std::source_location at);

TALLY_INLINED std::uint64_t exchange_inlined(const Contribution& mine, std::source_location at) {
  if (!contribute(mine, at)) suspend();
  return state().fibre->result;
}

}  // namespace tally::executor
