#include "kernels/device/checker/order.hpp"

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernels/device/checker/shadow.hpp"
#include "kernels/device/checker/streams.hpp"
#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::checker {
namespace {

/// What fences and atomics handed on; empty for nearly every kernel.
struct HandedOn {
  bool any = false;                             // a fence was seen in this launch
  std::unordered_map<const void*, Known> at;    // by the atomics on an address
  Known to_block, fenced_by_block;              // as of the last barrier
  std::map<unsigned, Known> to_thread, fenced;  // since then
};

struct Block {
  std::vector<WarpClocks> known;  // by thread: of its warp, its own clock in its own place
  HandedOn handed;
};

Block& own_block() {
  static thread_local Block one;
  return one;
}

std::atomic<std::uint32_t> blocks_so_far{0};

WarpClocks& known_by(unsigned thread) { return own_block().known[thread]; }

unsigned running_thread() { return running.who & ((1u << Stamp::thread_bits) - 1); }

}  // namespace

LaunchScope::LaunchScope(bool checked, std::uint64_t blocks) : checked_(checked) {
  if (!checked) return;
  shared_shadow.shift = 2;
  running.blocks = static_cast<std::uint32_t>(blocks);
  running.first_block = blocks_so_far.fetch_add(running.blocks) + 1;
  running.block = running.first_block - 1;
  running.unordered = begin_placed_launch(running.first_block, running.blocks);
  running.unordered_blocks = running.first_block + running.blocks - running.unordered;
  own_block().handed = {};
}

LaunchScope::~LaunchScope() {
  if (checked_) running = {};
}

void begin_block() {
  static constexpr WarpClocks nothing{};
  running.active = true;
  begin_shared_shadow();
  ++running.block;
  running.epoch = 0;
  running.clocks = false;
  running.known = &nothing;
  running.threads = executor::thread_order.count;
  running.block_position = std::uint64_t{running.block - running.first_block} * running.threads;
  const bool in_order = !executor::state().schedule.free() && executor::pending_work == nullptr;
  running.noting = in_order ? std::uint64_t{running.first_block} << 32 : Running::never;
  HandedOn& handed = own_block().handed;
  if (!handed.any) return;
  handed.to_block = handed.fenced_by_block = {};
  handed.to_thread.clear();
  handed.fenced.clear();
}

/// Gives every thread of the block a clock; until then all are alike.
void use_clocks() {
  running.noting = Running::never;
  if (running.clocks) return;
  running.clocks = true;
  Block& block = own_block();
  block.known.assign(executor::thread_order.count, WarpClocks{});
  for (unsigned thread = 0; thread < block.known.size(); ++thread) block.known[thread][thread % lanes] = 1;
}

void set_running_thread(unsigned thread) {
  running.known = &known_by(thread);
  running.who = thread | (*running.known)[thread % lanes] << Stamp::thread_bits;
}

void pass_barrier() {
  if (!running.active) return;
  ++running.epoch;
  running.noting = Running::never;
  HandedOn& handed = own_block().handed;
  if (!handed.any) return;
  for (const auto& [thread, known] : handed.to_thread) handed.to_block.add(known);
  for (const auto& [thread, known] : handed.fenced) handed.fenced_by_block.add(known);
  handed.to_thread.clear();
  handed.fenced.clear();
}

void pass_warp_barrier(unsigned warp, std::uint32_t lanes_there) {
  if (!running.active) return;
  use_clocks();
  const unsigned first = warp * lanes;
  WarpClocks joined{};
  HandedOn& handed = own_block().handed;
  Known to_all;
  const auto each_lane = [&](auto use) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (lanes_there >> lane & 1u && first + lane < own_block().known.size()) use(lane);
    }
  };
  each_lane([&](unsigned lane) {
    Known::raise(joined, known_by(first + lane));
    if (handed.any && handed.to_thread.contains(first + lane)) to_all.add(handed.to_thread[first + lane]);
  });
  each_lane([&](unsigned lane) {
    known_by(first + lane) = joined;
    ++known_by(first + lane)[lane];
    if (!to_all.empty()) handed.to_thread[first + lane].add(to_all);
  });
  set_running_thread(running_thread());
}

void fence() {
  if (!running.active) return;
  use_clocks();
  Block& block = own_block();
  HandedOn& handed = block.handed;
  handed.any = running.handed_on = true;
  const unsigned thread = running_thread();
  Known& fenced = handed.fenced[thread];
  fenced.add(running.block, running.epoch, thread / lanes, known_by(thread));
  fenced.add(handed.to_block);
  if (const auto own = handed.to_thread.find(thread); own != handed.to_thread.end()) fenced.add(own->second);
  ++known_by(thread)[thread % lanes];  // what follows is not behind the fence
  set_running_thread(thread);
}

void meet(const void* address) {
  HandedOn& handed = own_block().handed;
  if (!running.active || !handed.any) return;
  const unsigned thread = running_thread();
  if (const auto there = handed.at.find(address); there != handed.at.end()) handed.to_thread[thread].add(there->second);
  Known given = handed.fenced_by_block;
  if (const auto own = handed.fenced.find(thread); own != handed.fenced.end()) given.add(own->second);
  if (!given.empty()) handed.at[address].add(given);
}

bool known_otherwise(const Stamp& stamp) {
  if (stamp.block < running.first_block) return launch_happened_before(stamp.block);
  const HandedOn& handed = own_block().handed;
  if (!handed.any) return false;
  if (handed.to_block.covers(stamp)) return true;
  const auto own = handed.to_thread.find(running_thread());
  return own != handed.to_thread.end() && own->second.covers(stamp);
}

}  // namespace tally::checker
