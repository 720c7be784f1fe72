// Runs one launch, block after block, and each block's threads.
#include "kernels/device/executor/launch.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/block.hpp"
#include "kernels/device/executor/shared_memory.hpp"
#include "kernels/device/executor/state.hpp"
#include "kernels/device/executor/waiting.hpp"

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

namespace {

constexpr unsigned most_blocks_y = 65535, most_threads_z = 64;

/// All fibres are free; the first ones are taken first, so that a small launch keeps to few stacks.
void free_all_fibres(State& s) {
  s.idle.clear();
  for (auto fibre = s.fibres.rbegin(); fibre != s.fibres.rend(); ++fibre) s.idle.push_back(fibre->get());
}

/// The next in order of x, y, z.
uint3 following(uint3 block) {
  if (++block.x < gridDim.x) return block;
  block.x = 0;
  if (++block.y < gridDim.y) return block;
  block.y = 0;
  ++block.z;
  return block;
}

void begin_block(State& s, uint3 block) {
  blockIdx = block;
  thread_order = {.next = 0, .count = blockDim.x * blockDim.y * blockDim.z, .tracked = false};
  begin_shared_memory(s.launch->shared_bytes);
  s.barrier.arrived = 0;
  s.barrier.waiting.clear();
  if (s.schedule.free()) {
    s.start_order.resize(thread_order.count);
    std::iota(s.start_order.begin(), s.start_order.end(), 0u);
  }
  if (s.schedule.free()) begin_tracking(0);
  if (s.launch->checked) checker::begin_block();
}

void check_stacks(State& s) {
  for (std::size_t i = 0; i < s.fibres_used; ++i) {
    if (s.fibres[i]->stack_intact()) continue;
    s.fibres[i]->repair_stack();
    throw ExecutorFinding(place() + " or before: a thread overflowed its stack of " + std::to_string(stack_bytes) +
                          " bytes");
  }
}

std::uint64_t blocks_of(const Launch& launch) {
  return std::uint64_t{launch.blocks.x} * launch.blocks.y * launch.blocks.z;
}

uint3 block_at(std::uint64_t number) {
  const std::uint64_t x = number % gridDim.x, y = number / gridDim.x % gridDim.y;
  return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(number / gridDim.x / gridDim.y)};
}

/// In order, or for a free schedule from any block on, forwards or backwards.
void begin_another_block(State& s) {
  const std::uint64_t number = s.blocks_begun++;
  if (number == 0) return begin_block(s, block_at(s.first_block));
  if (!s.schedule.free()) return begin_block(s, following(blockIdx));
  const std::uint64_t count = blocks_of(*s.launch);
  begin_block(s, block_at((s.first_block + (s.backwards ? count - number : number)) % count));
}

void run_blocks(State& s) {
  const std::uint64_t count = blocks_of(*s.launch);
  const bool choice = s.schedule.free() && count > 1;
  s.blocks_begun = 0;
  s.first_block = choice ? s.schedule.pick(count) : 0;
  s.backwards = choice && s.schedule.pick(2) == 1;
  begin_another_block(s);
  s.starting = true;
  s.fibre = take_idle();
  s.home.sanitized = {};  // ranks in one process launch from stacks of their own
  switch_context(s.home, s.fibre->context);
  if (s.failure != nullptr) std::rethrow_exception(std::exchange(s.failure, nullptr));
  if (thread_order.tracked && s.alive > 0) throw ExecutorFinding(place() + ": " + describe_deadlock());
}

/// What stands on the fibres' stacks is dropped.
void end_launch(State& s) {
  for (std::size_t i = 0; i < s.fibres_used; ++i) s.fibres[i]->restart();
  s.ready.clear();
  s.launch = nullptr;
  end_shared_memory();
}

}  // namespace

void begin_next_block() {
  State& s = state();
  const bool stuck = thread_order.tracked && s.alive > 0;
  if (stuck || s.blocks_begun == blocks_of(*s.launch)) leave_launch();
  begin_another_block(s);
}

void check_shape(const Launch& launch) {
  const auto [bx, by, bz] = uint3(launch.blocks);
  const auto [tx, ty, tz] = uint3(launch.threads);
  const auto threads = std::uint64_t{tx} * ty * tz;
  const bool blocks_fit =
      bx >= 1 && by >= 1 && bz >= 1 && bx <= 0x7fffffffu && by <= most_blocks_y && bz <= most_blocks_y;
  const bool threads_fit =
      threads >= 1 && tx <= most_threads && ty <= most_threads && tz <= most_threads_z && threads <= most_threads;
  if (blocks_fit && threads_fit && launch.shared_bytes <= shared_memory_limit) return;
  const auto text = [](unsigned x, unsigned y, unsigned z) {
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  };
  throw std::invalid_argument("launch at " + describe(launch.at) + ": " + text(bx, by, bz) + " blocks of " +
                              text(tx, ty, tz) + " threads with " + std::to_string(launch.shared_bytes) +
                              " bytes of shared memory; expected 1 to 1024 threads, at least one block, at most " +
                              std::to_string(shared_memory_limit) + " bytes");
}

void run(const Launch& launch) {
  static thread_local State mine;
  current_state = &mine;
  if (mine.launch != nullptr) throw std::logic_error("a kernel launched another at " + describe(launch.at));
  check_shape(launch);
  mine.launch = &launch;
  mine.schedule = Choices(launch.schedule);
  mine.start_order.clear();
  mine.fibres_used = 0;
  free_all_fibres(mine);
  gridDim = launch.blocks;
  blockDim = launch.threads;
  const checker::LaunchScope checks(launch.checked, blocks_of(launch));
  try {
    run_blocks(mine);
    check_stacks(mine);
  } catch (...) {
    end_launch(mine);
    throw;
  }
  end_launch(mine);
}

}  // namespace tally::executor
