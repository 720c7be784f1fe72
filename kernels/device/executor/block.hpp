// Runs a launch's threads. While none waits, a plain loop runs a block's, which the compiler may turn into vector
// instructions: a thread that never waits costs no fibre of its own. Only when a thread waits does the next one get
// another fibre. All of it is inlined into the loop around the kernel, for the reason that waiting.hpp gives.
#pragma once

#include <utility>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/state.hpp"
#include "kernels/device/executor/waiting.hpp"
#include "kernels/device/host/indices.hpp"

#ifdef TALLY_CHECKED
#define TALLY_NOT_OBSERVED __attribute__((no_sanitize("thread")))
#define TALLY_AROUND_KERNEL TALLY_NOT_OBSERVED __attribute__((noinline)) inline  // what it touches is the executor's
#else
#define TALLY_NOT_OBSERVED
#define TALLY_AROUND_KERNEL TALLY_INLINED
#endif

namespace tally::executor {

/// The thread that a free schedule starts next, in place of the one at this position.
unsigned drawn_thread(unsigned position);

/// Goes on with the next block. Does not return after the last one.
void begin_next_block();

/// Lets others run until this fibre, which holds no thread, is needed to start one.
TALLY_INLINED void stand_aside(State& s) {
  Fibre* self = s.fibre;
  s.idle.push_back(self);
  go_on(self);
}

/// The fibre's thread, if it had one, has returned; starts another. False: the block is done, or stuck.
TALLY_INLINED bool start_tracked_thread() {
  State& s = state();
  if (!std::exchange(s.starting, true)) {
    end_thread();
    if (!s.ready.empty()) stand_aside(s);
  }
  if (!s.unstarted()) return false;
  const unsigned position = thread_order.next++;
  s.thread = s.start_order.empty() ? position : drawn_thread(position);
  s.starting = false;
  threadIdx = index_of(s.thread);
  checker::enter_thread(s.thread);
  return true;
}

/// Calls `run_thread` for the threads of the block in order of x, y, z, until one of them has waited.
template <bool checked, class RunThread>
TALLY_AROUND_KERNEL void run_in_order(const RunThread& run_thread) {
  const uint3 size = blockDim;
  threadIdx = {0, 0, 0};
  unsigned thread = 0;
  do {
    for (unsigned x = 0; x < size.x; ++x) {
      threadIdx.x = x;
      if constexpr (checked) checker::enter_thread(thread++);
      run_thread();
      if (thread_order.tracked) return;
    }
    if (++threadIdx.y == size.y) threadIdx.y = 0, ++threadIdx.z;
  } while (threadIdx.z < size.z);
}

/// Runs threads on the calling fibre as long as the launch needs it; does not return.
template <bool checked, class RunThread>
TALLY_AROUND_KERNEL void run_threads_of_launch(const RunThread& run_thread) {
  for (;; begin_next_block()) {
    if (!thread_order.tracked) run_in_order<checked>(run_thread);
    if (!thread_order.tracked) continue;
    while (start_tracked_thread()) run_thread();
  }
}

}  // namespace tally::executor
