#include <cstring>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/finding.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::executor {
namespace {

bool same_place(std::source_location a, std::source_location b) {
  if (a.line() != b.line() || a.column() != b.column()) return false;
  return a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0;
}

void release(Barrier& barrier) {
  checker::pass_barrier();
  for (auto fibre = barrier.waiting.rbegin(); fibre != barrier.waiting.rend(); ++fibre) make_ready(*fibre);
  barrier.waiting.clear();
  barrier.arrived = 0;
}

}  // namespace

void wait_at_barrier(std::source_location at) {
  track();
  State& s = state();
  Barrier& barrier = s.barrier;
  if (barrier.arrived++ == 0) barrier.at = at;
  if (!same_place(barrier.at, at)) {
    throw ExecutorFinding(place() + ": divergent barrier: " + describe_thread(s.thread) + " is at " + describe(at) +
                          " while " + describe_thread(barrier.waiting.front()->thread) + " waits at " +
                          describe(barrier.at));
  }
  if (barrier.arrived < s.alive) {
    barrier.waiting.push_back(s.fibre);
    suspend();
    return;
  }
  if (s.schedule.free()) {
    barrier.waiting.push_back(s.fibre);
    release(barrier);
    suspend();
  } else {
    release(barrier);
  }
}

void complete_barrier() {
  Barrier& barrier = state().barrier;
  if (barrier.arrived > 0 && barrier.arrived == state().alive) release(barrier);
}

}  // namespace tally::executor
