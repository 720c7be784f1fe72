#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/finding.hpp"
#include "kernels/device/executor/waiting.hpp"

namespace tally::executor {

void fail_divergent_barrier(std::source_location at) {
  const State& s = state();
  throw ExecutorFinding(place() + ": divergent barrier: " + describe_thread(s.thread) + " is at " + describe(at) +
                        " while " + describe_thread(s.barrier.waiting.front()->thread) + " waits at " +
                        describe(s.barrier.at));
}

void release_barrier() {
  checker::pass_barrier();
  Barrier& barrier = state().barrier;
  std::vector<Fibre*>& ready = state().ready;  // the last is taken first
  ready.insert(ready.end(), barrier.waiting.rbegin(), barrier.waiting.rend());
  barrier.waiting.clear();
  barrier.arrived = 0;
}

void wait_at_barrier(std::source_location at) { wait_at_barrier_inlined(at); }

void complete_barrier() {
  if (state().barrier.arrived == state().alive) release_barrier();
}

}  // namespace tally::executor
