#include "kernels/device/executor/block.hpp"

#include <algorithm>
#include <utility>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/finding.hpp"
#include "kernels/device/executor/state.hpp"
#include "kernels/device/executor/switching.hpp"

namespace tally::executor {
namespace {

/// What every fibre does: runs threads as long as there are any to start, then waits to be needed again. It switches
/// here and not in a function of its own: returns from one would go elsewhere than the processor predicts.
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
    Fibre* self = state().fibre;
    state().idle.push_back(self);
    go_on(self);
  }
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

std::uint64_t drawn_pick() {
  const std::uint64_t count = choices();
  return count > 1 ? state().schedule.pick(count) : 0;
}

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
  if (s.barrier.arrived > 0) complete_barrier();
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
