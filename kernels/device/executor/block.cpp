#include "kernels/device/executor/block.hpp"

#include <algorithm>
#include <utility>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/finding.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::executor {
namespace {

void run_fibre() {
  SanitizedStack::entered(state().home.sanitized);
  for (;;) {
    try {
      const Launch& launch = *state().launch;
      state().starting = true;
      launch.run_threads(launch.arguments);
    } catch (...) {
      state().failure = std::current_exception();
    }
    leave_idle();
  }
}

/// A fibre that holds no thread.
Fibre* take_idle() {
  State& s = state();
  if (s.idle.empty()) add_fibre();
  Fibre* fibre = s.idle.back();
  s.idle.pop_back();
  s.fibres_used = std::max<std::size_t>(s.fibres_used, fibre->number() + 1);
  return fibre;
}

/// How many things could run next: every ready thread, and a new one.
std::uint64_t choices() { return state().ready.size() + (state().unstarted() ? 1 : 0); }

/// The ready thread number `pick`, the one made ready last being 0; nullptr when `pick` says to start a new one.
Fibre* take_ready(std::uint64_t pick) {
  State& s = state();
  if (pick >= s.ready.size()) return nullptr;
  std::swap(s.ready[s.ready.size() - 1 - pick], s.ready.back());
  Fibre* fibre = s.ready.back();
  s.ready.pop_back();
  return fibre;
}

void resume(Fibre* fibre) {
  State& s = state();
  s.fibre = fibre;
  s.thread = fibre->thread;
  threadIdx = fibre->index;
  checker::enter_thread(s.thread);
}

/// Leaves `from` for this ready thread, or for a new one. Inlined, as its caller is: the fewer lines of its stack a
/// waiting thread touches, the more stacks stay in the cache.
__attribute__((always_inline)) inline void switch_to(Fibre* from, Fibre* ready) {
  Fibre* to = ready;
  if (ready == nullptr) {
    state().fibre = to = take_idle();
  } else {
    resume(ready);
  }
  if (to != from) switch_context(from->context, to->context);
}

/// Leaves `from` for whatever runs next: a ready thread, a new one, or home when there is neither.
__attribute__((always_inline)) inline void go_on(Fibre* from) {
  State& s = state();
  if (s.failure != nullptr || (s.ready.empty() && !s.unstarted())) {
    switch_context(from->context, s.home);
    return;
  }
  const std::uint64_t count = choices();
  switch_to(from, take_ready(s.schedule.free() && count > 1 ? s.schedule.pick(count) : 0));
}

/// Notes where the running thread stands, so that its fibre can be resumed.
Fibre* held() {
  State& s = state();
  s.fibre->thread = s.thread;
  s.fibre->index = threadIdx;
  return s.fibre;
}

}  // namespace

void add_fibre() {
  State& s = state();
  const auto number = static_cast<unsigned>(s.fibres.size());
  s.idle.push_back(s.fibres.emplace_back(std::make_unique<Fibre>(number, run_fibre)).get());
}

uint3 index_of(unsigned thread) {
  if (blockDim.y == 1 && blockDim.z == 1) return {thread, 0, 0};  // no division
  return {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}

void make_ready(Fibre* fibre) { state().ready.push_back(fibre); }

void suspend() { go_on(held()); }

void interrupt() {
  State& s = state();
  if (s.starting || choices() == 0) return;
  const std::uint64_t pick = s.schedule.pick_interruption(choices() + 1);
  if (pick == 0) return;
  Fibre* self = held();
  Fibre* other = take_ready(pick - 1);
  s.ready.insert(s.ready.begin(), self);
  switch_to(self, other);
}

void fail_here(const std::string& finding) {
  State& s = state();
  s.failure = std::make_exception_ptr(ExecutorFinding(finding));
  switch_context(s.fibre->context, s.home);
  __builtin_unreachable();
}

void leave_idle() {
  Fibre* self = state().fibre;
  state().idle.push_back(self);
  go_on(self);
}

void begin_tracking(unsigned ended) {
  State& s = state();
  thread_order.tracked = true;
  s.alive = thread_order.count - ended;
  for (unsigned first = 0; first < most_threads && first < thread_order.count; first += lanes_a_warp) {
    Warp& warp = s.warps[first / lanes_a_warp];
    const auto mask_below = [](unsigned lanes) { return lanes < lanes_a_warp ? (1u << lanes) - 1u : ~0u; };
    warp.ended = ~mask_below(thread_order.count - first) | (ended > first ? mask_below(ended - first) : 0u);
    warp.pending.clear();
  }
}

void track() {
  if (thread_order.tracked) return;
  state().thread = thread_order.next - 1;
  state().starting = false;
  begin_tracking(state().thread);
}

void end_thread() {
  State& s = state();
  --s.alive;
  Warp& warp = s.warps[s.thread / lanes_a_warp];
  warp.ended |= 1u << s.thread % lanes_a_warp;
  if (!warp.pending.empty()) complete_collectives(warp);
  complete_barrier();
}

/// Any of the threads from `position` on.
unsigned take_unstarted(unsigned position) {
  State& s = state();
  const unsigned left = thread_order.count - position;
  if (left > 1) std::swap(s.start_order[position], s.start_order[position + s.schedule.pick(left)]);
  return s.start_order[position];
}

bool start_tracked_thread() {
  State& s = state();
  if (!std::exchange(s.starting, false)) {
    end_thread();
    if (!s.ready.empty()) return false;
  }
  if (!s.unstarted()) return false;
  const unsigned position = thread_order.next++;
  s.thread = s.start_order.empty() ? position : take_unstarted(position);
  threadIdx = index_of(s.thread);
  checker::enter_thread(s.thread);
  return true;
}

}  // namespace tally::executor
