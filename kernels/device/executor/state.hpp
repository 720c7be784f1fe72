// The block under way on this operating-system thread: who has ended, who waits for what, which fibres are free.
// Defined in describe.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "kernels/device/executor/fibre.hpp"
#include "kernels/device/executor/launch.hpp"
#include "kernels/device/executor/schedule.hpp"

namespace tally::executor {

// What a thread does together with others: block barriers and warp collectives.

enum class Collective { sync, shuffle, shuffle_up, shuffle_down, shuffle_xor, ballot, any, all };

/// A lane's part in a collective. `operand`: the shuffle's lane, distance or bits.
struct Contribution {
  Collective collective;
  unsigned mask;
  std::uint64_t value;
  int operand, width;
};

/// Returns once every thread of the block that has not ended is here. Throws ExecutorFinding when threads wait at
/// different barriers.
void wait_at_barrier(std::source_location at);

/// Returns the calling lane's result once every lane of the mask that has not ended contributed. Throws ExecutorFinding
/// when lanes of one mask call different collectives, or the caller is not in its own mask.
std::uint64_t exchange(const Contribution& contribution, std::source_location at);

unsigned lane_of_caller();

// How far the block under way has come.

struct ThreadOrder {
  unsigned next = 0, count = 0;  // threads started so far, counted once they are tracked; of the block
  bool tracked = false;          // some thread waited, or the order is drawn: start_tracked_thread decides
};
inline constinit thread_local ThreadOrder thread_order{};

inline constexpr unsigned most_threads = 1024, lanes_a_warp = 32;

/// A collective some lanes of a warp wait in. Lanes with disjoint masks may each have one.
struct Pending {
  Collective collective;
  unsigned mask, arrived = 0;
  std::array<Contribution, lanes_a_warp> from;
  std::array<Fibre*, lanes_a_warp> waiting{};
  std::array<std::source_location, lanes_a_warp> at;
};

struct Warp {
  unsigned ended = 0;  // lanes that returned, or that the block never had
  std::vector<Pending> pending;
};

struct Barrier {
  unsigned arrived = 0;
  std::source_location at;
  std::vector<Fibre*> waiting;
};

struct State {
  const Launch* launch = nullptr;
  Choices schedule;
  std::vector<unsigned> start_order;  // of a free schedule; empty: 0, 1, ...
  unsigned alive = 0;                 // threads of the block that have not returned
  unsigned thread = 0;                // the one that runs
  Fibre* fibre = nullptr;             // and its fibre
  bool starting = true;               // the running fibre holds no thread
  std::uint64_t blocks_begun = 0;     // of the launch
  std::uint64_t first_block = 0;      // of a free schedule, which may also go backwards
  bool backwards = false;
  std::array<Warp, most_threads / lanes_a_warp> warps;
  Barrier barrier;
  std::vector<Fibre*> ready;
  std::vector<Fibre*> idle;                    // the last is taken first
  std::vector<std::unique_ptr<Fibre>> fibres;  // all there are
  std::size_t fibres_used = 0;                 // in this launch: the first so many
  Context home;                                // where the block was started
  std::exception_ptr failure;

  bool unstarted() const { return thread_order.next < thread_order.count; }
};

/// This operating-system thread's; set by run().
inline constinit thread_local State* current_state = nullptr;
inline State& state() { return *current_state; }

/// From now on every start and end is tracked; `ended` threads of the block, in order, have returned already.
void begin_tracking(unsigned ended);
void track_from_here();
/// The running thread is about to wait, or needs to know who has ended.
inline void track() {
  if (!thread_order.tracked) [[unlikely]]
    track_from_here();
}

/// Something else may run first; the running thread stays ready.
void interrupt();
/// Drops every thread where it stands and goes back to where the launch was started.
[[noreturn]] void leave_launch();
/// Ends the launch with this finding and drops every thread where it stands. For callers that cannot throw.
[[noreturn]] void fail_here(const std::string& finding);
/// A waiting fibre may go on.
inline void make_ready(Fibre* fibre) { state().ready.push_back(fibre); }

/// Completes the collectives and the barrier that waited for the running thread, which has just ended; some thread is
/// at the barrier.
void complete_collectives(Warp& warp);
void complete_barrier();
/// The running thread has returned.
inline void end_thread() {
  State& s = state();
  --s.alive;
  Warp& warp = s.warps[s.thread / lanes_a_warp];
  warp.ended |= 1u << s.thread % lanes_a_warp;
  if (!warp.pending.empty()) complete_collectives(warp);
  if (s.barrier.arrived > 0) complete_barrier();
}

/// A new fibre, free.
void add_fibre();

inline uint3 index_of(unsigned thread) {
  if (blockDim.y == 1 && blockDim.z == 1) return {thread, 0, 0};  // no division
  return {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}
/// "kernel NAME launched at FILE:LINE, block (x, y, z)".
std::string place();
/// "thread (x, y, z)".
std::string describe_thread(unsigned thread);
std::string describe(std::source_location at);
/// Out of what launch.hpp calls it.
std::string kernel_name(std::string_view pretty);
std::string_view name_of(Collective collective);
/// Why no thread can go on: everyone that waits, and for what.
std::string describe_deadlock();

}  // namespace tally::executor
