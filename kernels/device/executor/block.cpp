#include "kernels/device/executor/block.hpp"

#include <algorithm>
#include <utility>

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

/// True when a thread is to be started rather than a ready one continued; at least one of both is possible.
bool start_rather() {
  State& s = state();
  if (s.ready.empty() || !s.unstarted()) return s.ready.empty();
  return s.schedule.drawn() && s.schedule.below(s.ready.size() + 1) == 0;
}

Fibre* take_ready() {
  State& s = state();
  if (s.schedule.drawn()) std::swap(s.ready[s.schedule.below(s.ready.size())], s.ready.back());
  Fibre* fibre = s.ready.back();
  s.ready.pop_back();
  return fibre;
}

void resume(Fibre* fibre) {
  State& s = state();
  s.fibre = fibre;
  s.thread = fibre->thread;
  threadIdx = fibre->index;
}

/// Leaves `from` for whatever runs next: a ready thread, a new one, or home when there is neither.
void go_on(Fibre* from) {
  State& s = state();
  if (s.failure != nullptr || (s.ready.empty() && !s.unstarted())) {
    switch_context(from->context, s.home);
    return;
  }
  Fibre* to = nullptr;
  if (start_rather()) {
    s.fibre = to = take_idle();
  } else {
    resume(to = take_ready());
  }
  if (to != from) switch_context(from->context, to->context);
}

}  // namespace

void add_fibre() {
  State& s = state();
  const auto number = static_cast<unsigned>(s.fibres.size());
  s.idle.push_back(s.fibres.emplace_back(std::make_unique<Fibre>(number, run_fibre)).get());
}

uint3 index_of(unsigned thread) {
  return {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}

void make_ready(Fibre* fibre) { state().ready.push_back(fibre); }

void suspend() {
  Fibre* self = state().fibre;
  self->thread = state().thread;
  self->index = threadIdx;
  go_on(self);
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

bool start_tracked_thread() {
  State& s = state();
  if (!std::exchange(s.starting, false)) {
    end_thread();
    if (!s.unstarted() || !start_rather()) return false;
  }
  if (!s.unstarted()) return false;
  const unsigned position = thread_order.next++;
  s.thread = s.start_order.empty() ? position : s.start_order[position];
  threadIdx = index_of(s.thread);
  return true;
}

}  // namespace tally::executor
