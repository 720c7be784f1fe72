// Where threads wait, and how one thread is left for another, inlined into kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <source_location>
#include <utility>
#include <vector>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/state.hpp"

// Leaving one thread of a block for another. All of it is inlined into where a thread waits: the fewer lines of its
// stack a waiting thread touches, the more stacks stay in the cache, and the fewer returns follow a switch, the more of
// them go where the processor predicts.

#define TALLY_INLINED __attribute__((always_inline)) inline

namespace tally::executor {

/// How many things could run next: every ready thread, and a new one.
inline std::uint64_t choices() { return state().ready.size() + (state().unstarted() ? 1 : 0); }

/// The one of these choices that a free schedule draws.
std::uint64_t drawn_pick();

/// A fibre that holds no thread.
TALLY_INLINED Fibre* take_idle() {
  State& s = state();
  if (s.idle.empty()) [[unlikely]]
    add_fibre();
  Fibre* fibre = s.idle.back();
  s.idle.pop_back();
  s.fibres_used = std::max<std::size_t>(s.fibres_used, fibre->number() + 1);
  return fibre;
}

/// The ready thread number `pick`, the one made ready last being 0; nullptr when `pick` says to start a new one.
TALLY_INLINED Fibre* take_ready(std::uint64_t pick) {
  State& s = state();
  if (pick >= s.ready.size()) return nullptr;
  if (pick > 0) std::swap(s.ready[s.ready.size() - 1 - pick], s.ready.back());
  Fibre* fibre = s.ready.back();
  s.ready.pop_back();
  return fibre;
}

/// Asks for the stack that is needed next if the schedule is not drawn, and for the fibre after that: a block's stacks
/// do not fit into the first cache together.
TALLY_INLINED void prefetch_next(const std::vector<Fibre*>& fibres) {
  if (fibres.empty()) return;
  prefetch(fibres.back()->context);
  if (fibres.size() > 1) __builtin_prefetch(fibres[fibres.size() - 2], 1);
}

/// Leaves `from` for this ready thread, or for a new one.
TALLY_INLINED void switch_to(Fibre* from, Fibre* ready) {
  State& s = state();
  Fibre* to = ready != nullptr ? ready : take_idle();
  s.fibre = to;
  if (ready != nullptr) {
    s.starting = false;
    s.thread = ready->thread;
    threadIdx = ready->index;
    checker::enter_thread(s.thread);
    prefetch_next(s.ready);
  } else {
    s.starting = true;
    prefetch_next(s.idle);
  }
  if (to != from) switch_context(from->context, to->context);
}

/// Leaves `from` for whatever runs next: a ready thread, a new one, or home when there is neither.
TALLY_INLINED void go_on(Fibre* from) {
  State& s = state();
  if (s.failure != nullptr || (s.ready.empty() && !s.unstarted())) {
    switch_context(from->context, s.home);
    return;
  }
  switch_to(from, take_ready(s.schedule.free() ? drawn_pick() : 0));
}

/// Notes where the running thread stands, so that its fibre can be resumed.
TALLY_INLINED Fibre* held() {
  State& s = state();
  s.fibre->thread = s.thread;
  s.fibre->index = threadIdx;
  return s.fibre;
}

/// The running thread waits: others run until it is made ready again.
TALLY_INLINED void suspend() { go_on(held()); }

// Where threads wait, inlined into kernels: no return may follow a switch to another stack, for it would not go where
// the processor predicts.

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
