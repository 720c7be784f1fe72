#include <cstring>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/finding.hpp"
#include "kernels/device/executor/state.hpp"
#include "kernels/device/executor/switching.hpp"

namespace tally::executor {
namespace {

bool same_place(std::source_location a, std::source_location b) {
  if (a.line() != b.line() || a.column() != b.column()) return false;
  return a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0;
}

[[noreturn, gnu::noinline]] void fail_divergent(std::source_location at) {
  const State& s = state();
  throw ExecutorFinding(place() + ": divergent barrier: " + describe_thread(s.thread) + " is at " + describe(at) +
                        " while " + describe_thread(s.barrier.waiting.front()->thread) + " waits at " +
                        describe(s.barrier.at));
}

__attribute__((noinline)) void release(Barrier& barrier) {
  checker::pass_barrier();
  std::vector<Fibre*>& ready = state().ready;  // the last is taken first
  ready.insert(ready.end(), barrier.waiting.rbegin(), barrier.waiting.rend());
  barrier.waiting.clear();
  barrier.arrived = 0;
}

}  // namespace

void wait_at_barrier(std::source_location at) {
  track();
  State& s = state();
  Barrier& barrier = s.barrier;
  if (barrier.arrived++ == 0) barrier.at = at;
  if (!same_place(barrier.at, at)) [[unlikely]]
    fail_divergent(at);
  const bool last = barrier.arrived == s.alive;
  if (last && !s.schedule.free()) return release(barrier);
  barrier.waiting.push_back(s.fibre);
  if (last) release(barrier);
  suspend();
}

void complete_barrier() {
  Barrier& barrier = state().barrier;
  if (barrier.arrived == state().alive) release(barrier);
}

}  // namespace tally::executor
