// Which of a block's threads runs next. A thread that never waits costs a few instructions here and no fibre of its
// own: one fibre runs thread after thread, and only when a thread waits does the next one get another fibre.
#pragma once

#include "kernels/device/checker/order.hpp"
#include "kernels/device/host/indices.hpp"

namespace tally::executor {

struct ThreadOrder {
  unsigned next = 0, count = 0;  // threads started so far; of the block
  bool tracked = false;          // some thread waited, or the order is drawn: start_tracked_thread decides
};
inline constinit thread_local ThreadOrder thread_order{};

/// Starts another thread, or returns false when this fibre has nothing more to start.
bool start_tracked_thread();

/// Sets threadIdx for the next thread of the block, in order of x, y, z. False: this fibre is done with the block.
inline bool start_next_thread() {
  if (thread_order.tracked) return start_tracked_thread();
  if (thread_order.next == thread_order.count) return false;
  if (thread_order.next++ == 0) {
    threadIdx = {0, 0, 0};
  } else if (++threadIdx.x == blockDim.x) {
    threadIdx.x = 0;
    if (++threadIdx.y == blockDim.y) {
      threadIdx.y = 0;
      ++threadIdx.z;
    }
  }
  return true;
}

/// The same on the checked side.
inline bool start_next_checked_thread() {
  if (thread_order.tracked) return start_tracked_thread();
  if (!start_next_thread()) return false;
  checker::enter_thread(thread_order.next - 1);
  return true;
}

}  // namespace tally::executor
