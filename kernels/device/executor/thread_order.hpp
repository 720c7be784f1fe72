// How far the block under way has come.
#pragma once

namespace tally::executor {

struct ThreadOrder {
  unsigned next = 0, count = 0;  // threads started so far, counted once they are tracked; of the block
  bool tracked = false;          // some thread waited, or the order is drawn: start_tracked_thread decides
};
inline constinit thread_local ThreadOrder thread_order{};

}  // namespace tally::executor
