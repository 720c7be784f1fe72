#include "kernels/device/executor/block.hpp"

#include <algorithm>
#include <utility>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/finding.hpp"
#include "kernels/device/executor/state.hpp"
#include "kernels/device/executor/switching.hpp"

namespace tally::executor {
namespace {

/// What every fibre does until its launch is over; it is started again for another.
void run_fibre() {
  State& s = state();
  SanitizedStack::entered(s.home.sanitized);
  try {
    s.launch->run_threads(s.launch->arguments);
  } catch (...) {
    s.failure = std::current_exception();
  }
  leave_launch();
}

}  // namespace

void add_fibre() {
  State& s = state();
  const auto number = static_cast<unsigned>(s.fibres.size());
  s.idle.push_back(s.fibres.emplace_back(std::make_unique<Fibre>(number, run_fibre)).get());
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

void leave_launch() {
  State& s = state();
  switch_context(s.fibre->context, s.home);
  __builtin_unreachable();
}

void fail_here(const std::string& finding) {
  state().failure = std::make_exception_ptr(ExecutorFinding(finding));
  leave_launch();
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

void track_from_here() {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  thread_order.next = thread + 1;
  state().thread = thread;
  state().starting = false;
  begin_tracking(thread);
}

unsigned drawn_thread(unsigned position) {
  State& s = state();
  const unsigned left = thread_order.count - position;
  if (left > 1) std::swap(s.start_order[position], s.start_order[position + s.schedule.pick(left)]);
  return s.start_order[position];
}

}  // namespace tally::executor
